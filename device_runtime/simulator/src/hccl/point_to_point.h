#pragma once

#include <cstdint>
#include <vector>

#include "membership.h"

namespace simulator::hccl {

struct Transfer {
  enum class Direction { kSend, kReceive };
  Direction direction;
  std::byte* buffer;
  uint64_t count;
  HcclDataType type;
  uint32_t peer;
};

// Makes all transfers, in both directions at once; those with the same peer and direction go in their order.
// A send ends when its receiver has taken everything. Throws Failure.
void Exchange(Membership& group, const std::vector<Transfer>& transfers);

}  // namespace simulator::hccl
