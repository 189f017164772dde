#pragma once

#include "arguments.h"

namespace simulator::operators {

// The bits of a dropout mask as a tensor of `sizes`: 1 where the element is kept. Eight elements to a byte,
// the first in the lowest bit.
inline at::Tensor KeptElements(Tensor mask, at::IntArrayRef sizes) {
  const auto bytes = mask.contiguous().view({-1, 1});
  const auto bits = at::bitwise_and(at::bitwise_right_shift(bytes, at::arange(8, mask.options())), 1);
  return bits.flatten().narrow(0, 0, c10::multiply_integers(sizes)).view(sizes);
}

}  // namespace simulator::operators
