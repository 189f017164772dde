// Rounding to what a quantised number could hold, in floating point; the mask marks what was not clipped.
#include "binding.h"
#include "store.h"

ACLNN(FakeQuantPerChannelAffineCachemask, [](Tensor self, Tensor scale, Tensor zeroPoint, int64_t axis,
                                             int64_t low, int64_t high, Out out, Out mask) {
  const auto [result, kept] = at::fake_quantize_per_channel_affine_cachemask(
      Widened(self), scale.to(at::kFloat), zeroPoint.to(at::kInt), axis, low, high);
  Store(out, result);
  Store(mask, kept);
});
ACLNN(FakeQuantPerTensorAffineCachemask, [](Tensor self, Tensor scale, Tensor zeroPoint, float enabled,
                                            int64_t low, int64_t high, Out out, Out mask) {
  const auto [result, kept] = at::_fake_quantize_per_tensor_affine_cachemask_tensor_qparams(
      Widened(self), scale.to(at::kFloat), zeroPoint.to(at::kInt),
      at::full({1}, static_cast<int64_t>(enabled != 0), at::kLong), low, high);
  Store(out, result);
  Store(mask, kept);
});
