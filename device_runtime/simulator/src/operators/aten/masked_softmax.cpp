// Softmax fused with scaling, masking and biases.
#include "binding.h"
#include "checks.h"
#include "store.h"

namespace simulator::operators {
namespace {

// What the device puts in the place of a masked score (scaled_masked_softmax_v2 of ops-nn): not infinity, so
// a row that is masked out altogether becomes uniform.
constexpr double kMaskedScore = -10000;

void CheckMask(Tensor scores, OptionalTensor mask, bool triangular) {
  TORCH_CHECK_VALUE(scores.dim() == 4, "the scores have shape ", scores.sizes(), ", not four dimensions");
  TORCH_CHECK_VALUE(triangular || mask, "a mask is needed");
  if (mask && !triangular) CheckShape(scores, at::infer_size(scores.sizes(), mask->sizes()));
}

at::Tensor MaskOf(Tensor scores, OptionalTensor mask, bool triangular) {
  if (!triangular) return mask->to(at::kBool);
  return at::ones({scores.size(-2), scores.size(-1)}, scores.options().dtype(at::kBool)).triu(1);
}

Plan ScaledMaskedSoftmax(Tensor x, OptionalTensor mask, double scale, bool triangular, Out y) {
  CheckMask(x, mask, triangular);
  CheckSameShape(x, y);
  return [=]() mutable {
    Store(y, at::softmax((Widened(x) * scale).masked_fill(MaskOf(x, mask, triangular), kMaskedScore), -1));
  };
}

Plan ScaledMaskedSoftmaxGrad(Tensor gradOutput, Tensor y, OptionalTensor mask, double scale, bool triangular,
                             Out out) {
  CheckMask(y, mask, triangular);
  CheckSameShape(y, gradOutput);
  CheckSameShape(y, out);
  return [=]() mutable {
    const auto grad = at::_softmax_backward_data(Widened(gradOutput), Widened(y), -1, at::kFloat) * scale;
    Store(out, grad.masked_fill(MaskOf(y, mask, triangular), 0));
  };
}

// The window dimension of a mask (W, S1, S2) or (W, 1, S1, S2) counts within the first dimension of x, which
// joins batch and windows.
at::Tensor WithoutWindows(Tensor x, OptionalTensor mask) {
  const auto wide = Widened(x);
  if (x.dim() == 5 || !mask) return wide;
  const auto windows = mask->size(mask->dim() == 5 ? 1 : 0);
  return wide.unflatten(0, {-1, windows});
}

Plan MaskedSoftmaxWithBias(Tensor x, OptionalTensor mask, Tensor bias, double scale,
                           int64_t /*innerPrecision*/, Out out) {
  TORCH_CHECK_VALUE(x.dim() == 4 || x.dim() == 5, "the scores have shape ", x.sizes(),
                    ", not four or five dimensions");
  CheckSameShape(x, out);
  return [=]() mutable {
    auto scores = WithoutWindows(x, mask) * scale + Widened(bias).reshape(bias.sizes().slice(bias.dim() - 3));
    if (mask) {
      const auto wide = Widened(*mask);
      scores = scores + (wide.dim() == 3 ? wide.unsqueeze(1) : wide);
    }
    Store(out, at::softmax(scores, -1).view(x.sizes()));
  };
}

Plan TransformQkv(Tensor qkv, Tensor bias, int64_t heads, Out query, Out key, Out value) {
  TORCH_CHECK_VALUE(heads > 0 && qkv.dim() == 3 && bias.dim() == 1 && qkv.size(2) == bias.size(0) &&
                        bias.size(0) % (3 * heads) == 0,
                    "projections of shapes ", qkv.sizes(), " and ", bias.sizes(), " do not belong to ", heads,
                    " heads");
  return [=]() mutable {
    const auto parts = (Widened(qkv) + Widened(bias)).unflatten(2, {3, heads, -1}).permute({2, 0, 3, 1, 4});
    Store(query, parts[0] / std::sqrt(static_cast<double>(parts.size(-1))));
    Store(key, parts[1]);
    Store(value, parts[2]);
  };
}

}  // namespace
}  // namespace simulator::operators

ACLNN(ScaledMaskedSoftmax, Planning(ScaledMaskedSoftmax));
ACLNN(ScaledMaskedSoftmaxBackward, Planning(ScaledMaskedSoftmaxGrad));
ACLNN(MaskedSoftmaxWithRelPosBias, Planning(MaskedSoftmaxWithBias));
ACLNN(TransformBiasRescaleQkv, Planning(TransformQkv));
