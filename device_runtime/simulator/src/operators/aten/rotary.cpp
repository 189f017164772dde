// Rotary position embedding: x * cos + rotated(x) * sin.
#include "binding.h"
#include "store.h"

namespace simulator::operators {
namespace {

// Mode 0 pairs an element with the one half the dimension away, mode 1 with its neighbour.
at::Tensor Rotated(Tensor x, int64_t mode) {
  TORCH_CHECK_VALUE(mode == 0 || mode == 1, "the rotation mode ", mode, " is not implemented");
  if (mode == 0) {
    const auto halves = x.chunk(2, -1);
    return at::cat({-halves[1], halves[0]}, -1);
  }
  const auto pairs = x.unflatten(-1, {-1, 2}).unbind(-1);
  return at::stack({-pairs[1], pairs[0]}, -1).flatten(-2);
}

void Embed(Tensor x, Tensor cos, Tensor sin, int64_t mode, Out out) {
  const auto wide = Widened(x);
  Store(out, wide * Widened(cos) + Rotated(wide, mode) * Widened(sin));
}

}  // namespace
}  // namespace simulator::operators

ACLNN(RotaryPositionEmbedding, Embed);
ACLNN(RotaryPositionEmbeddingV2,
      [](Tensor x, Tensor cos, Tensor sin, int64_t mode, OptionalTensor rotation, Out out) {
        TORCH_CHECK_VALUE(!rotation, "a rotation matrix is not implemented");
        Embed(x, cos, sin, mode, out);
      });
ACLNN(RotaryPositionEmbeddingGrad, [](Tensor gradOutput, Tensor cos, Tensor sin, OptionalTensor x,
                                      int64_t mode, Out gradInput, OptionalOut gradCos, OptionalOut gradSin) {
  const auto grad = Widened(gradOutput);
  // The rotation by a quarter turn is orthogonal: its transpose is its negative.
  Store(gradInput, grad * Widened(cos) - Rotated(grad * Widened(sin), mode));
  if (!x) return;
  const auto wide = Widened(*x);
  Store(gradCos, (grad * wide).sum_to_size(cos.sizes()));
  Store(gradSin, (grad * Rotated(wide, mode)).sum_to_size(sin.sizes()));
});
