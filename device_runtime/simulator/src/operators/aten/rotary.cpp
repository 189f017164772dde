// Rotary position embedding and its gradient.
#include "rotary.h"

#include "binding.h"
#include "checks.h"

namespace simulator::operators {
namespace {

void CheckRotates(Tensor x, Tensor cos, Tensor sin, Rotary mode) {
  CheckSameShape(cos, sin);
  CheckShape(x, at::infer_size(x.sizes(), cos.sizes()));
  const auto parts = mode == Rotary::kQuarter ? 4 : 2;
  TORCH_CHECK_VALUE(x.dim() > 0 && x.size(-1) % parts == 0, "vectors of shape ", x.sizes(),
                    " do not divide into ", parts, " parts");
}

Plan EmbedPositions(Tensor x, Tensor cos, Tensor sin, int64_t modeNumber, Out out) {
  const auto mode = RotaryMode(modeNumber);
  CheckRotates(x, cos, sin, mode);
  CheckSameShape(x, out);
  return [=]() mutable { Store(out, Embedded(x, cos, sin, mode)); };
}

// With a matrix the rotated vector is x times that matrix.
Plan EmbedPositionsBy(Tensor x, Tensor cos, Tensor sin, int64_t mode, OptionalTensor rotation, Out out) {
  if (!rotation) return EmbedPositions(x, cos, sin, mode, out);
  CheckRotates(x, cos, sin, RotaryMode(mode));
  CheckSameShape(x, out);
  CheckShape(*rotation, {x.size(-1), x.size(-1)});
  return [=]() mutable {
    const auto wide = Widened(x);
    Store(out, wide * Widened(cos) + at::matmul(wide, Widened(*rotation)) * Widened(sin));
  };
}

Plan EmbedPositionsGrad(Tensor gradOutput, Tensor cos, Tensor sin, OptionalTensor x, int64_t modeNumber,
                        Out gradInput, OptionalOut gradCos, OptionalOut gradSin) {
  const auto mode = RotaryMode(modeNumber);
  CheckRotates(gradOutput, cos, sin, mode);
  CheckSameShape(gradOutput, gradInput);
  return [=]() mutable {
    const auto grad = Widened(gradOutput);
    // The rotation by a quarter turn is orthogonal: its transpose is its negative.
    const auto forInput = grad * Widened(cos) - Rotated(grad * Widened(sin), mode);
    const bool moved = mode == Rotary::kInterleaveHalf;
    Store(gradInput, moved ? Interleaved(forInput) : forInput);
    if (!x) return;
    const auto wide = moved ? Deinterleaved(Widened(*x)) : Widened(*x);
    Store(gradCos, (grad * wide).sum_to_size(cos.sizes()));
    Store(gradSin, (grad * Rotated(wide, mode)).sum_to_size(sin.sizes()));
  };
}

Rotary RotaryModeNamed(const std::string& name) {
  if (name == "half") return Rotary::kHalf;
  if (name == "quarter") return Rotary::kQuarter;
  TORCH_CHECK_VALUE(name == "interleave", "the rotation mode ", name, " is not known");
  return Rotary::kInterleave;
}

Plan EmbedQueryAndKey(Out query, Out key, Tensor cos, Tensor sin, Rotary mode) {
  CheckRotates(query, cos, sin, mode);
  CheckRotates(key, cos, sin, mode);
  return [=]() mutable {
    Store(query, Embedded(query, cos, sin, mode));
    Store(key, Embedded(key, cos, sin, mode));
  };
}

}  // namespace
}  // namespace simulator::operators

ACLNN(RotaryPositionEmbedding, Planning(EmbedPositions));
// No public header declares the second version: its parameters are those that torch_npu passes, the matrix
// before the output.
ACLNN(RotaryPositionEmbeddingV2, Planning(EmbedPositionsBy));
ACLNN(RotaryPositionEmbeddingGrad, Planning(EmbedPositionsGrad));
ACLNN(InterleaveRope, Planning([](Tensor x, Tensor cos, Tensor sin, Out out) {
        return EmbedPositions(x, cos, sin, static_cast<int64_t>(Rotary::kInterleaveHalf), out);
      }));
// The layout only names dimensions that cos and sin have in the same places.
ACLNN(ApplyRotaryPosEmb, Planning([](Out query, Out key, Tensor cos, Tensor sin, int64_t /*layout*/) {
        return EmbedQueryAndKey(query, key, cos, sin, Rotary::kHalf);
      }));
ACLNN(ApplyRotaryPosEmbV2,
      Planning([](Out query, Out key, Tensor cos, Tensor sin, int64_t /*layout*/, Text mode) {
        return EmbedQueryAndKey(query, key, cos, sin, RotaryModeNamed(mode));
      }));
