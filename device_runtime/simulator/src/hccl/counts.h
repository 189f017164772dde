#pragma once

#include <cstdint>

#include "failure.h"

namespace simulator::hccl {

// Sums and products of counts that a caller gave. One that does not fit into 64 bits lies in no device's
// memory.

inline uint64_t Plus(uint64_t a, uint64_t b) {
  uint64_t sum = 0;
  Require(!__builtin_add_overflow(a, b, &sum), HCCL_E_PARA, "a count of elements is too large");
  return sum;
}

inline uint64_t Times(uint64_t a, uint64_t b) {
  uint64_t product = 0;
  Require(!__builtin_mul_overflow(a, b, &product), HCCL_E_PARA, "a count of elements is too large");
  return product;
}

}  // namespace simulator::hccl
