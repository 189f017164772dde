// Convolutions. `cubeMathType` permits less precision than the dtype has; none is given up here.
#include <ATen/native/ConvUtils.h>

#include "binding.h"
#include "checks.h"
#include "store.h"

namespace simulator::operators {
namespace {

struct ConvolutionShape {
  at::IntArrayRef stride, padding, dilation;
  bool transposed;
  at::IntArrayRef outputPadding;
  int64_t groups;
};

// One number a spatial dimension, or one for all.
void CheckSpatial(at::IntArrayRef values, int64_t least, int64_t dims, const char* what) {
  const auto count = static_cast<int64_t>(values.size());
  TORCH_CHECK_VALUE(count == 1 || count == dims, what, " has ", count, " values for ", dims, " dimensions");
  for (const auto value : values) TORCH_CHECK_VALUE(value >= least, what, " is ", values);
}

void CheckOperands(Tensor input, Tensor weight, const ConvolutionShape& shape) {
  TORCH_CHECK_VALUE(input.dim() >= 3 && input.dim() <= 5 && weight.dim() == input.dim(), "an input of shape ",
                    input.sizes(), " cannot be convolved with a weight of shape ", weight.sizes());
  TORCH_CHECK_TYPE(input.scalar_type() == weight.scalar_type(), "the input has dtype ", input.scalar_type(),
                   ", the weight ", weight.scalar_type());
  TORCH_CHECK_VALUE(shape.groups > 0 && weight.size(0) % shape.groups == 0, weight.size(0),
                    " channels cannot be dealt out to ", shape.groups, " groups");
  const auto channels = shape.transposed ? weight.size(0) : weight.size(1) * shape.groups;
  TORCH_CHECK_VALUE(input.size(1) == channels, "the input has ", input.size(1),
                    " channels, the weight is for ", channels);
  CheckSpatial(shape.stride, 1, input.dim() - 2, "the stride");
  CheckSpatial(shape.padding, 0, input.dim() - 2, "the padding");
  CheckSpatial(shape.dilation, 1, input.dim() - 2, "the dilation");
}

std::vector<int64_t> Expanded(at::IntArrayRef values, int64_t dims) {
  return values.size() == 1 ? std::vector<int64_t>(dims, values[0]) : values.vec();
}

std::vector<int64_t> ConvolvedShape(Tensor input, Tensor weight, const ConvolutionShape& shape) {
  CheckOperands(input, weight, shape);
  const auto dims = input.dim() - 2;
  const auto stride = Expanded(shape.stride, dims), padding = Expanded(shape.padding, dims),
             dilation = Expanded(shape.dilation, dims);
  const auto sizes =
      shape.transposed
          ? at::native::conv_input_size(input.sizes(), weight.sizes(), padding,
                                        Expanded(shape.outputPadding, dims), stride, dilation, shape.groups)
          : at::native::conv_output_size(input.sizes(), weight.sizes(), padding, stride, dilation);
  for (const auto size : sizes) TORCH_CHECK_VALUE(size >= 0, "the result would have shape ", sizes);
  return sizes;
}

Plan Convolution(Tensor input, Tensor weight, OptionalTensor bias, Sizes stride, Sizes padding,
                 Sizes dilation, bool transposed, Sizes outputPadding, int64_t groups, Out output,
                 int8_t /*cubeMathType*/) {
  CheckShape(output,
             ConvolvedShape(input, weight, {stride, padding, dilation, transposed, outputPadding, groups}));
  if (bias) CheckShape(*bias, output.size(1));
  return [=]() mutable {
    Store(output, at::convolution(Widened(input), Widened(weight), Widened(bias), stride, padding, dilation,
                                  transposed, outputPadding, groups));
  };
}

Plan ConvolutionBackward(Tensor gradOutput, Tensor input, Tensor weight, Sizes biasSizes, Sizes stride,
                         Sizes padding, Sizes dilation, bool transposed, Sizes outputPadding, int64_t groups,
                         Flags outputMask, int8_t /*cubeMathType*/, OptionalOut gradInput,
                         OptionalOut gradWeight, OptionalOut gradBias) {
  CheckShape(gradOutput,
             ConvolvedShape(input, weight, {stride, padding, dilation, transposed, outputPadding, groups}));
  TORCH_CHECK_VALUE(outputMask.size() == 3, "the output mask has ", outputMask.size(), " values, not 3");
  const std::array<bool, 3> wanted{outputMask[0] != 0, outputMask[1] != 0, outputMask[2] != 0};
  if (wanted[0] && gradInput) CheckSameShape(input, *gradInput);
  if (wanted[1] && gradWeight) CheckSameShape(weight, *gradWeight);
  return [=]() mutable {
    at::OptionalIntArrayRef bias;
    if (!biasSizes.empty()) bias = at::IntArrayRef(biasSizes);
    const auto [forInput, forWeight, forBias] =
        at::convolution_backward(Widened(gradOutput), Widened(input), Widened(weight), bias, stride, padding,
                                 dilation, transposed, outputPadding, groups, wanted);
    if (wanted[0]) Store(gradInput, forInput);
    if (wanted[1]) Store(gradWeight, forWeight);
    if (wanted[2]) Store(gradBias, forBias);
  };
}

}  // namespace
}  // namespace simulator::operators

ACLNN(Convolution, Planning(Convolution));
ACLNN(ConvolutionBackward, Planning(ConvolutionBackward));
ACLNN(ConvDepthwise2d, [](Tensor self, Tensor weight, Sizes kernelSize, OptionalTensor bias, Sizes stride,
                          Sizes padding, Sizes dilation, Out out, int8_t) {
  TORCH_CHECK_VALUE(weight.sizes().slice(2) == at::IntArrayRef(kernelSize), "the weight has shape ",
                    weight.sizes(), ", the kernel size is ", at::IntArrayRef(kernelSize));
  Store(out,
        at::conv2d(Widened(self), Widened(weight), Widened(bias), stride, padding, dilation, self.size(-3)));
});
ACLNN(ConvTbc, [](Tensor self, Tensor weight, Tensor bias, int64_t pad, Out output, int8_t) {
  Store(output, at::conv_tbc(Widened(self), Widened(weight), Widened(bias), pad));
});
ACLNN(ConvTbcBackward, [](Tensor self, Tensor input, Tensor weight, Tensor bias, int64_t pad, int8_t,
                          Out gradInput, Out gradWeight, Out gradBias) {
  const auto [forInput, forWeight, forBias] =
      at::conv_tbc_backward(Widened(self), Widened(input), Widened(weight), Widened(bias), pad);
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
