// Pooling and its gradients.
#include "binding.h"
#include "store.h"

namespace simulator::operators {
namespace {

std::optional<int64_t> Divisor(int64_t divisorOverride) {
  return divisorOverride == 0 ? std::nullopt : std::optional(divisorOverride);
}

void MaxPool2d(Tensor self, Sizes kernel, Sizes stride, Sizes padding, Sizes dilation, bool ceilMode, Out out,
               Out indices) {
  const auto [values, positions] =
      at::max_pool2d_with_indices(self, kernel, stride, padding, dilation, ceilMode);
  Store(out, values);
  Store(indices, positions);
}

void MaxPool2dBackward(Tensor gradOutput, Tensor self, Tensor indices, Sizes kernel, Sizes stride,
                       Sizes padding, Sizes dilation, bool ceilMode, Out gradInput) {
  Store(gradInput, at::max_pool2d_with_indices_backward(gradOutput, self, kernel, stride, padding, dilation,
                                                        ceilMode, indices.to(at::kLong)));
}

}  // namespace
}  // namespace simulator::operators

ACLNN(MaxPool2dWithIndices, MaxPool2d);
ACLNN(MaxPool2dWithIndicesBackward, MaxPool2dBackward);

// The mask is private to the pair of operators. Ours stays empty: the gradient finds the maxima again.
ACLNN(MaxPool2dWithMask, [](Tensor self, Sizes kernel, Sizes stride, Sizes padding, Sizes dilation,
                            bool ceilMode, Out out, Out mask) {
  Store(out, std::get<0>(at::max_pool2d_with_indices(self, kernel, stride, padding, dilation, ceilMode)));
  mask.zero_();
});
ACLNN(MaxPool2dWithMaskBackward,
      [](Tensor gradOutput, Tensor self, Tensor /*mask*/, Sizes kernel, Sizes stride, Sizes padding,
         Sizes dilation, bool ceilMode, Out gradInput) {
        const auto indices =
            std::get<1>(at::max_pool2d_with_indices(self, kernel, stride, padding, dilation, ceilMode));
        MaxPool2dBackward(gradOutput, self, indices, kernel, stride, padding, dilation, ceilMode, gradInput);
      });
ACLNN(MaxPool3dWithArgmax, [](Tensor self, Sizes kernel, Sizes stride, Sizes padding, Sizes dilation,
                              bool ceilMode, Out out, Out indices) {
  const auto [values, positions] =
      at::max_pool3d_with_indices(self, kernel, stride, padding, dilation, ceilMode);
  Store(out, values);
  Store(indices, positions);
});
ACLNN(MaxPool3dWithArgmaxBackward,
      [](Tensor gradOutput, Tensor self, Tensor indices, Sizes kernel, Sizes stride, Sizes padding,
         Sizes dilation, bool ceilMode, Out gradInput) {
        Store(gradInput, at::max_pool3d_with_indices_backward(gradOutput, self, kernel, stride, padding,
                                                              dilation, ceilMode, indices.to(at::kLong)));
      });

ACLNN(AvgPool2d, [](Tensor self, Sizes kernel, Sizes stride, Sizes padding, bool ceilMode,
                    bool countIncludePad, int64_t divisorOverride, int8_t, Out out) {
  Store(out,
        at::avg_pool2d(self, kernel, stride, padding, ceilMode, countIncludePad, Divisor(divisorOverride)));
});
ACLNN(AvgPool2dBackward,
      [](Tensor gradOutput, Tensor self, Sizes kernel, Sizes stride, Sizes padding, bool ceilMode,
         bool countIncludePad, int64_t divisorOverride, int8_t, Out gradInput) {
        Store(gradInput, at::avg_pool2d_backward(gradOutput, self, kernel, stride, padding, ceilMode,
                                                 countIncludePad, Divisor(divisorOverride)));
      });
ACLNN(AvgPool3d, [](Tensor self, Sizes kernel, Sizes stride, Sizes padding, bool ceilMode,
                    bool countIncludePad, int64_t divisorOverride, Out out) {
  Store(out,
        at::avg_pool3d(self, kernel, stride, padding, ceilMode, countIncludePad, Divisor(divisorOverride)));
});
ACLNN(AvgPool3dBackward, [](Tensor gradOutput, Tensor self, Sizes kernel, Sizes stride, Sizes padding,
                            bool ceilMode, bool countIncludePad, int64_t divisorOverride, Out gradInput) {
  Store(gradInput, at::avg_pool3d_backward(gradOutput, self, kernel, stride, padding, ceilMode,
                                           countIncludePad, Divisor(divisorOverride)));
});

ACLNN(AdaptiveAvgPool2d,
      [](Tensor self, Sizes outputSize, Out out) { Store(out, at::adaptive_avg_pool2d(self, outputSize)); });
ACLNN(AdaptiveAvgPool2dBackward, [](Tensor gradOutput, Tensor self, Out out) {
  Store(out, at::_adaptive_avg_pool2d_backward(gradOutput, self));
});
ACLNN(AdaptiveAvgPool3d,
      [](Tensor self, Sizes outputSize, Out out) { Store(out, at::adaptive_avg_pool3d(self, outputSize)); });
ACLNN(AdaptiveAvgPool3dBackward, [](Tensor gradOutput, Tensor self, Out out) {
  Store(out, at::_adaptive_avg_pool3d_backward(gradOutput, self));
});
ACLNN(AdaptiveMaxPool2d, [](Tensor self, Sizes outputSize, Out out, Out indices) {
  const auto [values, positions] = at::adaptive_max_pool2d(self, outputSize);
  Store(out, values);
  Store(indices, positions);
});
ACLNN(AdaptiveMaxPool2dBackward, [](Tensor gradOutput, Tensor self, Tensor indices, Out gradInput) {
  Store(gradInput, at::adaptive_max_pool2d_backward(gradOutput, self, indices.to(at::kLong)));
});
ACLNN(AdaptiveMaxPool3d, [](Tensor self, Sizes outputSize, Out out, Out indices) {
  const auto [values, positions] = at::adaptive_max_pool3d(self, outputSize);
  Store(out, values);
  Store(indices, positions);
});
ACLNN(AdaptiveMaxPool3dBackward, [](Tensor gradOutput, Tensor self, Tensor indices, Out gradInput) {
  Store(gradInput, at::adaptive_max_pool3d_backward(gradOutput, self, indices.to(at::kLong)));
});
ACLNN(MaxUnpool2d, [](Tensor self, Tensor indices, Sizes outputSize, Out out) {
  Store(out, at::max_unpool2d(self, indices.to(at::kLong), outputSize));
});
ACLNN(MaxUnpool3d, [](Tensor self, Tensor indices, Sizes outputSize, Sizes stride, Sizes padding, Out out) {
  Store(out, at::max_unpool3d(self, indices.to(at::kLong), outputSize, stride, padding));
});
