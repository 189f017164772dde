// Quantisation with scales that are found in the data.
#include "binding.h"
#include "checks.h"
#include "dtypes.h"
#include "quantize.h"
#include "store.h"

namespace simulator::operators {
namespace {

// Which elements share a scale.
enum class Shared { kToken, kChannel, kTensor };

Shared SharedBy(const std::string& mode) {
  if (mode.empty() || mode == "pertoken") return Shared::kToken;
  if (mode == "perchannel") return Shared::kChannel;
  TORCH_CHECK_VALUE(mode == "pertensor", "the quantisation mode ", mode, " is not known");
  return Shared::kTensor;
}

std::vector<int64_t> ReducedDims(Tensor x, Shared shared) {
  if (shared == Shared::kToken) return {-1};
  if (shared == Shared::kChannel) return {-2};
  std::vector<int64_t> all(x.dim());
  for (int64_t dim = 0; dim < x.dim(); ++dim) all[dim] = dim;
  return all;
}

// x times the smoothing scales; with groups each row has the scales of its group.
at::Tensor Smoothed(Tensor x, OptionalTensor scales, OptionalTensor groups, Shared shared) {
  const auto wide = Widened(x);
  if (!scales) return wide;
  if (shared == Shared::kChannel) return wide * Widened(*scales).unsqueeze(-1);
  if (!groups) return wide * Widened(*scales);
  const auto rows = wide.flatten(0, -2);
  const auto group = GroupOfRows(*groups, false, rows.size(0)).clamp_min(0);
  return (rows * Widened(*scales).index_select(0, group)).view(x.sizes());
}

struct DynamicQuantOptions {
  bool symmetric;
  Shared shared;
};

void QuantiseDynamically(Tensor x, const DynamicQuantOptions& options, Out y, Out scaleOut,
                         OptionalOut offsetOut) {
  const auto range = RangeOf(y.scalar_type());
  const auto dims = ReducedDims(x, options.shared);
  if (options.symmetric) {
    const auto scale = x.abs().amax(dims, true) / range.greatest;
    StoreQuantised(y, x / scale.masked_fill(scale == 0, 1));
    return Store(scaleOut, scale.view(scaleOut.sizes()));
  }
  const auto largest = x.amax(dims, true);
  const auto scale = (largest - x.amin(dims, true)) / (range.greatest - range.least);
  const auto divisor = scale.masked_fill(scale == 0, 1);
  const auto offset = range.greatest - largest / divisor;
  StoreQuantised(y, x / divisor + offset);
  Store(scaleOut, scale.view(scaleOut.sizes()));
  Store(offsetOut, offset.view(scaleOut.sizes()));
}

// One number for all that share a scale.
std::vector<int64_t> ScaleShape(Tensor x, Shared shared) {
  if (shared == Shared::kTensor) return {1};
  auto shape = x.sizes().vec();
  shape.erase(shape.end() - (shared == Shared::kToken ? 1 : 2));
  return shape;
}

void CheckSmoothing(Tensor x, OptionalTensor smooth, OptionalTensor groups, Shared shared) {
  TORCH_CHECK_VALUE(!groups || (smooth && shared == Shared::kToken),
                    "groups choose among the smoothing scales of tokens, which are missing");
  if (!smooth) return;
  const auto length = x.size(shared == Shared::kChannel ? -2 : -1);
  const auto expected = groups ? std::vector<int64_t>{groups->numel(), length} : std::vector<int64_t>{length};
  CheckSameDtype("smoothing scales", *smooth, x);
  TORCH_CHECK_VALUE(smooth->sizes() == at::IntArrayRef(expected), "the smoothing scales have shape ",
                    smooth->sizes(), ", not ", expected);
}

Plan DynamicQuant(Tensor x, OptionalTensor smooth, OptionalTensor groups, DynamicQuantOptions options, Out y,
                  Out scale, OptionalOut offset) {
  TORCH_CHECK_VALUE(x.dim() >= 2, "an input of shape ", x.sizes(), " has no rows");
  CheckHalf("x", x);
  CheckSmoothing(x, smooth, groups, options.shared);
  CheckHolds(y, x.sizes());
  CheckShape(scale, ScaleShape(x, options.shared));
  TORCH_CHECK_VALUE(options.symmetric || offset, "an asymmetric quantisation has an offset");
  if (!options.symmetric) CheckSameShape(scale, *offset);
  return [=]() mutable {
    QuantiseDynamically(Smoothed(x, smooth, groups, options.shared), options, y, scale, offset);
  };
}

}  // namespace
}  // namespace simulator::operators

ACLNN(DynamicQuant, Planning([](Tensor x, OptionalTensor smooth, Out y, Out scale) {
        std::optional<at::Tensor> none;
        return DynamicQuant(x, smooth, none, {true, Shared::kToken}, y, scale, none);
      }));
ACLNN(DynamicQuantV2, Planning([](Tensor x, OptionalTensor smooth, OptionalTensor groups, int64_t /*dstType*/,
                                  Out y, Out scale, OptionalOut offset) {
        return DynamicQuant(x, smooth, groups, {!offset, Shared::kToken}, y, scale, offset);
      }));
ACLNN(DynamicQuantV3, Planning([](Tensor x, OptionalTensor smooth, OptionalTensor groups, int64_t /*dstType*/,
                                  bool symmetric, Text mode, Out y, Out scale, OptionalOut offset) {
        return DynamicQuant(x, smooth, groups, {symmetric, SharedBy(mode)}, y, scale, offset);
      }));
ACLNN(DynamicQuantV4,
      Planning([](Tensor x, OptionalTensor smooth, OptionalTensor groups, int64_t /*dstType*/, bool symmetric,
                  Text mode, float largest, Out y, Out scale, OptionalOut offset) {
        TORCH_CHECK_VALUE(largest == 0, "a range of its own, ", largest, ", is not implemented");
        return DynamicQuant(x, smooth, groups, {symmetric, SharedBy(mode)}, y, scale, offset);
      }));
