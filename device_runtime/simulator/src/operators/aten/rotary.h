#pragma once

#include "store.h"

// Rotary position embedding: x * cos + rotated(x) * sin.
namespace simulator::operators {

// How the elements of a vector are paired to points of a plane, numbered as in aclnnRotaryPositionEmbedding.
enum class Rotary : int64_t {
  kHalf = 0,            // with the element half the vector away
  kInterleave = 1,      // with the neighbour
  kQuarter = 2,         // as kHalf, in each half of the vector
  kInterleaveHalf = 3,  // the neighbours are first moved half the vector apart
};

inline Rotary RotaryMode(int64_t number) {
  TORCH_CHECK_VALUE(number >= 0 && number <= 3, "the rotation mode ", number, " is not known");
  return static_cast<Rotary>(number);
}

// A quarter turn in the plane of each pair.
inline at::Tensor Rotated(Tensor x, Rotary mode) {
  if (mode == Rotary::kInterleave) {
    const auto pairs = x.unflatten(-1, {-1, 2}).unbind(-1);
    return at::stack({-pairs[1], pairs[0]}, -1).flatten(-2);
  }
  const auto parts = x.chunk(mode == Rotary::kQuarter ? 4 : 2, -1);
  if (mode == Rotary::kQuarter) return at::cat({-parts[1], parts[0], -parts[3], parts[2]}, -1);
  return at::cat({-parts[1], parts[0]}, -1);
}

// Moves what stands at even places to the first half, what stands at odd places to the second.
inline at::Tensor Deinterleaved(Tensor x) { return x.unflatten(-1, {-1, 2}).transpose(-1, -2).flatten(-2); }

inline at::Tensor Interleaved(Tensor x) { return x.unflatten(-1, {2, -1}).transpose(-1, -2).flatten(-2); }

inline at::Tensor Embedded(Tensor x, Tensor cos, Tensor sin, Rotary mode) {
  const auto wide = mode == Rotary::kInterleaveHalf ? Deinterleaved(Widened(x)) : Widened(x);
  return wide * Widened(cos) + Rotated(wide, mode) * Widened(sin);
}

}  // namespace simulator::operators
