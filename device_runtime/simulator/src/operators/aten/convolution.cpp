// Convolutions. `cubeMathType` permits less precision than the dtype has; none is given up here.
#include "binding.h"
#include "store.h"

ACLNN(Convolution, [](Tensor input, Tensor weight, OptionalTensor bias, Sizes stride, Sizes padding,
                      Sizes dilation, bool transposed, Sizes outputPadding, int64_t groups, Out output,
                      int8_t) {
  Store(output,
        at::convolution(input, weight, bias, stride, padding, dilation, transposed, outputPadding, groups));
});
ACLNN(ConvDepthwise2d, [](Tensor self, Tensor weight, Sizes kernelSize, OptionalTensor bias, Sizes stride,
                          Sizes padding, Sizes dilation, Out out, int8_t) {
  TORCH_CHECK_VALUE(weight.sizes().slice(2) == at::IntArrayRef(kernelSize), "the weight has shape ",
                    weight.sizes(), ", the kernel size is ", at::IntArrayRef(kernelSize));
  Store(out, at::conv2d(self, weight, bias, stride, padding, dilation, self.size(-3)));
});
ACLNN(ConvolutionBackward, [](Tensor gradOutput, Tensor input, Tensor weight, Sizes biasSizes, Sizes stride,
                              Sizes padding, Sizes dilation, bool transposed, Sizes outputPadding,
                              int64_t groups, Flags outputMask, int8_t, OptionalOut gradInput,
                              OptionalOut gradWeight, OptionalOut gradBias) {
  TORCH_CHECK_VALUE(outputMask.size() == 3, "the output mask has ", outputMask.size(), " values, not 3");
  const std::array<bool, 3> wanted{outputMask[0] != 0, outputMask[1] != 0, outputMask[2] != 0};
  at::OptionalIntArrayRef bias;
  if (!biasSizes.empty()) bias = at::IntArrayRef(biasSizes);
  const auto [forInput, forWeight, forBias] = at::convolution_backward(
      gradOutput, input, weight, bias, stride, padding, dilation, transposed, outputPadding, groups, wanted);
  if (wanted[0]) Store(gradInput, forInput);
  if (wanted[1]) Store(gradWeight, forWeight);
  if (wanted[2]) Store(gradBias, forBias);
});
ACLNN(ConvTbc, [](Tensor self, Tensor weight, Tensor bias, int64_t pad, Out output, int8_t) {
  Store(output, at::conv_tbc(self, weight, bias, pad));
});
ACLNN(ConvTbcBackward, [](Tensor self, Tensor input, Tensor weight, Tensor bias, int64_t pad, int8_t,
                          Out gradInput, Out gradWeight, Out gradBias) {
  const auto [forInput, forWeight, forBias] = at::conv_tbc_backward(self, input, weight, bias, pad);
  Store(gradInput, forInput);
  Store(gradWeight, forWeight);
  Store(gradBias, forBias);
});
ACLNN(Im2col, [](Tensor self, Sizes kernelSize, Sizes dilation, Sizes padding, Sizes stride, Out out) {
  Store(out, at::im2col(self, kernelSize, dilation, padding, stride));
});
ACLNN(Im2colBackward, [](Tensor gradOutput, Sizes inputSize, Sizes kernelSize, Sizes dilation, Sizes padding,
                         Sizes stride, Out gradInput) {
  Store(gradInput, at::col2im(gradOutput, inputSize, kernelSize, dilation, padding, stride));
});
