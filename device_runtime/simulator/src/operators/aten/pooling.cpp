// Pooling and its gradients.
#include <ATen/native/Pool.h>
#include <ATen/ops/avg_pool2d_backward_meta_dispatch.h>
#include <ATen/ops/avg_pool2d_meta_dispatch.h>
#include <ATen/ops/avg_pool3d_backward_meta_dispatch.h>
#include <ATen/ops/avg_pool3d_meta_dispatch.h>
#include <ATen/ops/max_pool2d_with_indices_meta_dispatch.h>

#include "binding.h"
#include "checks.h"
#include "store.h"

namespace simulator::operators {
namespace {

std::optional<int64_t> Divisor(int64_t divisorOverride) {
  return divisorOverride == 0 ? std::nullopt : std::optional(divisorOverride);
}

at::Tensor MaxPooled2d(Tensor self, Sizes kernel, Sizes stride, Sizes padding, Sizes dilation,
                       bool ceilMode) {
  return std::get<0>(
      at::meta::max_pool2d_with_indices(Bare(self), kernel, stride, padding, dilation, ceilMode));
}

Plan MaxPool2d(Tensor self, Sizes kernel, Sizes stride, Sizes padding, Sizes dilation, bool ceilMode, Out out,
               Out indices) {
  CheckLike(out, MaxPooled2d(self, kernel, stride, padding, dilation, ceilMode));
  CheckSameShape(out, indices);
  return [=]() mutable {
    const auto [values, positions] =
        at::max_pool2d_with_indices(self, kernel, stride, padding, dilation, ceilMode);
    Store(out, values);
    Store(indices, positions);
  };
}

Plan MaxPool2dBackward(Tensor gradOutput, Tensor self, Tensor indices, Sizes kernel, Sizes stride,
                       Sizes padding, Sizes dilation, bool ceilMode, Out gradInput) {
  CheckLike(gradOutput, MaxPooled2d(self, kernel, stride, padding, dilation, ceilMode));
  CheckSameShape(gradOutput, indices);
  CheckSameShape(self, gradInput);
  return [=]() mutable {
    Store(gradInput, at::max_pool2d_with_indices_backward(gradOutput, self, kernel, stride, padding, dilation,
                                                          ceilMode, indices.to(at::kLong)));
  };
}

// The mask is private to the pair of operators. Ours stays empty: the gradient finds the maxima again.
Plan MaxPool2dWithMask(Tensor self, Sizes kernel, Sizes stride, Sizes padding, Sizes dilation, bool ceilMode,
                       Out out, Out mask) {
  CheckLike(out, MaxPooled2d(self, kernel, stride, padding, dilation, ceilMode));
  return [=]() mutable {
    Store(out, std::get<0>(at::max_pool2d_with_indices(self, kernel, stride, padding, dilation, ceilMode)));
    mask.zero_();
  };
}

Plan MaxPool2dWithMaskBackward(Tensor gradOutput, Tensor self, Tensor /*mask*/, Sizes kernel, Sizes stride,
                               Sizes padding, Sizes dilation, bool ceilMode, Out gradInput) {
  CheckLike(gradOutput, MaxPooled2d(self, kernel, stride, padding, dilation, ceilMode));
  CheckSameShape(self, gradInput);
  return [=]() mutable {
    const auto indices =
        std::get<1>(at::max_pool2d_with_indices(self, kernel, stride, padding, dilation, ceilMode));
    Store(gradInput, at::max_pool2d_with_indices_backward(gradOutput, self, kernel, stride, padding, dilation,
                                                          ceilMode, indices));
  };
}

// The last three dimensions after pooling; one number stands for three.
std::vector<int64_t> MaxPooled3d(Tensor self, at::IntArrayRef kernel, at::IntArrayRef stride,
                                 at::IntArrayRef padding, at::IntArrayRef dilation, bool ceilMode) {
  TORCH_CHECK_VALUE(self.dim() == 4 || self.dim() == 5, "an input of shape ", self.sizes(),
                    " has no three dimensions to be pooled");
  const auto at = [](at::IntArrayRef values, size_t i) {
    return values.size() == 1 ? values[0] : values.at(i);
  };
  auto shape = self.sizes().vec();
  for (size_t i = 0; i < 3; ++i) {
    auto& size = shape[shape.size() - 3 + i];
    const auto step = stride.empty() ? at(kernel, i) : at(stride, i);
    size = at::native::pooling_output_shape<int64_t>(size, at(kernel, i), at(padding, i), step,
                                                     at(dilation, i), ceilMode);
  }
  return shape;
}

Plan MaxPool3d(Tensor self, Sizes kernel, Sizes stride, Sizes padding, Sizes dilation, bool ceilMode, Out out,
               Out indices) {
  CheckShape(out, MaxPooled3d(self, kernel, stride, padding, dilation, ceilMode));
  CheckSameShape(out, indices);
  return [=]() mutable {
    const auto [values, positions] =
        at::max_pool3d_with_indices(self, kernel, stride, padding, dilation, ceilMode);
    Store(out, values);
    Store(indices, positions);
  };
}

Plan MaxPool3dBackward(Tensor gradOutput, Tensor self, Tensor indices, Sizes kernel, Sizes stride,
                       Sizes padding, Sizes dilation, bool ceilMode, Out gradInput) {
  CheckShape(gradOutput, MaxPooled3d(self, kernel, stride, padding, dilation, ceilMode));
  CheckSameShape(gradOutput, indices);
  CheckSameShape(self, gradInput);
  return [=]() mutable {
    Store(gradInput, at::max_pool3d_with_indices_backward(gradOutput, self, kernel, stride, padding, dilation,
                                                          ceilMode, indices.to(at::kLong)));
  };
}

Plan AvgPool2d(Tensor self, Sizes kernel, Sizes stride, Sizes padding, bool ceilMode, bool countIncludePad,
               int64_t divisorOverride, int8_t /*cubeMathType*/, Out out) {
  const auto divisor = Divisor(divisorOverride);
  CheckLike(out,
            at::meta::avg_pool2d(Bare(self), kernel, stride, padding, ceilMode, countIncludePad, divisor));
  return [=]() mutable {
    Store(out, at::avg_pool2d(self, kernel, stride, padding, ceilMode, countIncludePad, divisor));
  };
}

Plan AvgPool2dBackward(Tensor gradOutput, Tensor self, Sizes kernel, Sizes stride, Sizes padding,
                       bool ceilMode, bool countIncludePad, int64_t divisorOverride, int8_t /*cubeMathType*/,
                       Out gradInput) {
  const auto divisor = Divisor(divisorOverride);
  CheckLike(gradInput, at::meta::avg_pool2d_backward(Bare(gradOutput), Bare(self), kernel, stride, padding,
                                                     ceilMode, countIncludePad, divisor));
  return [=]() mutable {
    Store(gradInput, at::avg_pool2d_backward(gradOutput, self, kernel, stride, padding, ceilMode,
                                             countIncludePad, divisor));
  };
}

Plan AvgPool3d(Tensor self, Sizes kernel, Sizes stride, Sizes padding, bool ceilMode, bool countIncludePad,
               int64_t divisorOverride, Out out) {
  const auto divisor = Divisor(divisorOverride);
  CheckLike(out,
            at::meta::avg_pool3d(Bare(self), kernel, stride, padding, ceilMode, countIncludePad, divisor));
  return [=]() mutable {
    Store(out, at::avg_pool3d(self, kernel, stride, padding, ceilMode, countIncludePad, divisor));
  };
}

Plan AvgPool3dBackward(Tensor gradOutput, Tensor self, Sizes kernel, Sizes stride, Sizes padding,
                       bool ceilMode, bool countIncludePad, int64_t divisorOverride, Out gradInput) {
  const auto divisor = Divisor(divisorOverride);
  CheckLike(gradInput, at::meta::avg_pool3d_backward(Bare(gradOutput), Bare(self), kernel, stride, padding,
                                                     ceilMode, countIncludePad, divisor));
  return [=]() mutable {
    Store(gradInput, at::avg_pool3d_backward(gradOutput, self, kernel, stride, padding, ceilMode,
                                             countIncludePad, divisor));
  };
}

// The last dimensions are those of `outputSize`, whatever they were.
void CheckAdapted(Tensor self, at::IntArrayRef outputSize, Tensor out) {
  const auto dims = static_cast<int64_t>(outputSize.size());
  TORCH_CHECK_VALUE(self.dim() == dims + 1 || self.dim() == dims + 2, "an input of shape ", self.sizes(),
                    " cannot be pooled to ", outputSize);
  auto shape = self.sizes().vec();
  std::copy(outputSize.begin(), outputSize.end(), shape.end() - dims);
  CheckShape(out, shape);
}

template <auto kPool>
constexpr auto AdaptiveAvgPool = Planning([](Tensor self, Sizes outputSize, Out out) -> Plan {
  CheckAdapted(self, outputSize, out);
  return [=]() mutable { Store(out, kPool(self, outputSize)); };
});

template <auto kPool>
constexpr auto AdaptiveAvgPoolBackward = Planning([](Tensor gradOutput, Tensor self, Out gradInput) -> Plan {
  TORCH_CHECK_VALUE(gradOutput.dim() == self.dim(), "a gradient of shape ", gradOutput.sizes(),
                    " does not belong to an input of shape ", self.sizes());
  CheckSameShape(self, gradInput);
  return [=]() mutable { Store(gradInput, kPool(gradOutput, self)); };
});

template <auto kPool>
constexpr auto AdaptiveMaxPool = Planning([](Tensor self, Sizes outputSize, Out out, Out indices) -> Plan {
  CheckAdapted(self, outputSize, out);
  CheckSameShape(out, indices);
  return [=]() mutable {
    const auto [values, positions] = kPool(self, outputSize);
    Store(out, values);
    Store(indices, positions);
  };
});

template <auto kPool>
constexpr auto AdaptiveMaxPoolBackward =
    Planning([](Tensor gradOutput, Tensor self, Tensor indices, Out gradInput) -> Plan {
      CheckSameShape(gradOutput, indices);
      CheckSameShape(self, gradInput);
      return [=]() mutable { Store(gradInput, kPool(gradOutput, self, indices.to(at::kLong))); };
    });

}  // namespace
}  // namespace simulator::operators

ACLNN(MaxPool2dWithIndices, Planning(MaxPool2d));
ACLNN(MaxPool2dWithIndicesBackward, Planning(MaxPool2dBackward));
ACLNN(MaxPool2dWithMask, Planning(MaxPool2dWithMask));
ACLNN(MaxPool2dWithMaskBackward, Planning(MaxPool2dWithMaskBackward));
ACLNN(MaxPool3dWithArgmax, Planning(MaxPool3d));
ACLNN(MaxPool3dWithArgmaxBackward, Planning(MaxPool3dBackward));
ACLNN(AvgPool2d, Planning(AvgPool2d));
ACLNN(AvgPool2dBackward, Planning(AvgPool2dBackward));
ACLNN(AvgPool3d, Planning(AvgPool3d));
ACLNN(AvgPool3dBackward, Planning(AvgPool3dBackward));
ACLNN(AdaptiveAvgPool2d, AdaptiveAvgPool<at::adaptive_avg_pool2d>);
ACLNN(AdaptiveAvgPool2dBackward, AdaptiveAvgPoolBackward<at::_adaptive_avg_pool2d_backward>);
ACLNN(AdaptiveAvgPool3d, AdaptiveAvgPool<at::adaptive_avg_pool3d>);
ACLNN(AdaptiveAvgPool3dBackward, AdaptiveAvgPoolBackward<at::_adaptive_avg_pool3d_backward>);
ACLNN(AdaptiveMaxPool2d, AdaptiveMaxPool<at::adaptive_max_pool2d>);
ACLNN(AdaptiveMaxPool2dBackward, AdaptiveMaxPoolBackward<at::adaptive_max_pool2d_backward>);
ACLNN(AdaptiveMaxPool3d, AdaptiveMaxPool<at::adaptive_max_pool3d>);
ACLNN(AdaptiveMaxPool3dBackward, AdaptiveMaxPoolBackward<at::adaptive_max_pool3d_backward>);
ACLNN(MaxUnpool2d, [](Tensor self, Tensor indices, Sizes outputSize, Out out) {
  Store(out, at::max_unpool2d(self, indices.to(at::kLong), outputSize));
});
ACLNN(MaxUnpool3d, [](Tensor self, Tensor indices, Sizes outputSize, Sizes stride, Sizes padding, Out out) {
  Store(out, at::max_unpool3d(self, indices.to(at::kLong), outputSize, stride, padding));
});
