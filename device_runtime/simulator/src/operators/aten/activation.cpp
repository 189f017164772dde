// Activation functions and their gradients.
#include <algorithm>

#include "binding.h"
#include "store.h"

namespace simulator::operators {
namespace {

const char* GeluApproximation(int64_t mode) {
  TORCH_CHECK_VALUE(mode == 0 || mode == 1, "gelu approximation ", mode, " is neither 0 (none) nor 1 (tanh)");
  return mode == 0 ? "none" : "tanh";
}

// The logistic approximation that the vendor calls fast gelu: x * sigmoid(1.702 x).
at::Tensor FastGeluGate(Tensor self) { return at::sigmoid(self * 1.702); }

// The weights of the channels, or the one weight, shaped to broadcast over `self`.
at::Tensor ChannelWeight(Tensor self, Tensor weight) {
  std::vector<int64_t> shape(std::max<int64_t>(self.dim(), 1), 1);
  shape[shape.size() > 1 ? 1 : 0] = weight.numel();
  return weight.reshape(shape);
}

}  // namespace
}  // namespace simulator::operators

ACLNN(Relu, Broadcasting([](Tensor self, Out out) { at::relu_out(out, self); }));
ACLNN(InplaceRelu, Broadcasting([](Out self) { at::relu_(self); }));
ACLNN(Threshold, Broadcasting([](Tensor self, Scalar threshold, Scalar value, Out out) {
        at::threshold_out(out, self, threshold, value);
      }));
ACLNN(InplaceThreshold, Broadcasting([](Out self, Scalar threshold, Scalar value) {
        at::threshold_out(self, self, threshold, value);
      }));
ACLNN(ThresholdBackward, Broadcasting([](Tensor gradOutput, Tensor self, Scalar threshold, Out out) {
        at::threshold_backward_out(out, gradOutput, self, threshold);
      }));

ACLNN(Gelu, Broadcasting([](Tensor self, Out out) { at::gelu_out(out, self); }));
ACLNN(GeluV2, Broadcasting([](Tensor self, int64_t approximate, Out out) {
        at::gelu_out(out, self, GeluApproximation(approximate));
      }));
ACLNN(GeluBackward, Broadcasting([](Tensor gradOutput, Tensor self, Out gradInput) {
        at::gelu_backward_out(gradInput, gradOutput, self);
      }));
ACLNN(GeluBackwardV2, Broadcasting([](Tensor gradOutput, Tensor self, Text approximate, Out gradInput) {
        at::gelu_backward_out(gradInput, gradOutput, self, approximate);
      }));
ACLNN(FastGelu, Broadcasting([](Tensor self, Out out) { Store(out, self * FastGeluGate(self)); }));
ACLNN(FastGeluBackward, Broadcasting([](Tensor gradOutput, Tensor self, Out gradInput) {
        const auto gate = FastGeluGate(self);
        Store(gradInput, gradOutput * gate * (1 + 1.702 * self * (1 - gate)));
      }));

ACLNN(Silu, Broadcasting([](Tensor self, Out out) { at::silu_out(out, self); }));
ACLNN(SiluBackward, Broadcasting([](Tensor gradOutput, Tensor self, Out gradInput) {
        at::silu_backward_out(gradInput, gradOutput, self);
      }));
ACLNN(Mish, Broadcasting([](Tensor self, Out out) { at::mish_out(out, self); }));
ACLNN(InplaceMish, Broadcasting([](Out self) { at::mish_(self); }));
ACLNN(MishBackward, Broadcasting([](Tensor gradOutput, Tensor self, Out gradInput) {
        Store(gradInput, at::mish_backward(gradOutput, self));
      }));
ACLNN(SigmoidBackward, Broadcasting([](Tensor gradOutput, Tensor output, Out gradInput) {
        at::sigmoid_backward_out(gradInput, gradOutput, output);
      }));
ACLNN(TanhBackward, Broadcasting([](Tensor gradOutput, Tensor output, Out gradInput) {
        at::tanh_backward_out(gradInput, gradOutput, output);
      }));
ACLNN(LogSigmoid, Broadcasting([](Tensor self, Out out) { Store(out, at::log_sigmoid(self)); }));
ACLNN(LogSigmoidForward, [](Tensor self, Out out, Out /*buffer*/) {
  // The CPU kernel keeps exp(-|x|) in `buffer`, the device nothing; the gradient below recomputes it.
  Store(out, at::log_sigmoid(self));
});
ACLNN(LogSigmoidBackward, [](Tensor gradOutput, Tensor self, Tensor /*buffer*/, Out gradInput) {
  Store(gradInput, gradOutput * at::sigmoid(-self));
});

ACLNN(Softmax, Broadcasting([](Tensor self, int64_t dim, Out out) {
        Store(out, at::softmax(self, dim, out.scalar_type()));
      }));
ACLNN(SoftmaxBackward, Broadcasting([](Tensor gradOutput, Tensor output, int64_t dim, Out gradInput) {
        Store(gradInput, at::_softmax_backward_data(gradOutput, output, dim, gradOutput.scalar_type()));
      }));
ACLNN(LogSoftmax, Broadcasting([](Tensor self, int64_t dim, Out out) {
        Store(out, at::log_softmax(self, dim, out.scalar_type()));
      }));
ACLNN(LogSoftmaxBackward, Broadcasting([](Tensor gradOutput, Tensor output, int64_t dim, Out gradInput) {
        Store(gradInput, at::_log_softmax_backward_data(gradOutput, output, dim, gradOutput.scalar_type()));
      }));

ACLNN(LeakyRelu,
      Broadcasting([](Tensor self, Scalar slope, Out out) { at::leaky_relu_out(out, self, slope); }));
ACLNN(InplaceLeakyRelu, Broadcasting([](Out self, Scalar slope) { at::leaky_relu_(self, slope); }));
ACLNN(LeakyReluBackward,
      Broadcasting([](Tensor gradOutput, Tensor self, Scalar slope, bool selfIsResult, Out out) {
        at::leaky_relu_backward_out(out, gradOutput, self, slope, selfIsResult);
      }));
ACLNN(Elu, Broadcasting([](Tensor self, Scalar alpha, Scalar scale, Scalar inputScale, Out out) {
        at::elu_out(out, self, alpha, scale, inputScale);
      }));
ACLNN(InplaceElu, Broadcasting([](Out self, Scalar alpha, Scalar scale, Scalar inputScale) {
        at::elu_(self, alpha, scale, inputScale);
      }));
ACLNN(EluBackward, Broadcasting([](Tensor gradOutput, Scalar alpha, Scalar scale, Scalar inputScale,
                                   bool isResult, Tensor selfOrResult, Out gradInput) {
        at::elu_backward_out(gradInput, gradOutput, alpha, scale, inputScale, isResult, selfOrResult);
      }));
ACLNN(Celu, Broadcasting([](Tensor self, Scalar alpha, Out out) { Store(out, at::celu(self, alpha)); }));
ACLNN(InplaceCelu, Broadcasting([](Out self, Scalar alpha) { at::celu_(self, alpha); }));
ACLNN(Hardtanh, Broadcasting([](Tensor self, Scalar low, Scalar high, Out out) {
        at::hardtanh_out(out, self, low, high);
      }));
ACLNN(InplaceHardtanh,
      Broadcasting([](Out self, Scalar low, Scalar high) { at::hardtanh_(self, low, high); }));
ACLNN(HardtanhBackward, Broadcasting([](Tensor gradOutput, Tensor self, Scalar low, Scalar high, Out out) {
        at::hardtanh_backward_out(out, gradOutput, self, low, high);
      }));
ACLNN(Hardsigmoid, Broadcasting([](Tensor self, Out out) { at::hardsigmoid_out(out, self); }));
ACLNN(InplaceHardsigmoid, Broadcasting([](Out self) { at::hardsigmoid_(self); }));
ACLNN(HardsigmoidBackward, Broadcasting([](Tensor gradOutput, Tensor self, Out out) {
        at::hardsigmoid_backward_out(out, gradOutput, self);
      }));
ACLNN(Hardswish, Broadcasting([](Tensor self, Out out) { at::hardswish_out(out, self); }));
ACLNN(InplaceHardswish, Broadcasting([](Out self) { at::hardswish_(self); }));
ACLNN(HardswishBackward, Broadcasting([](Tensor gradOutput, Tensor self, Out out) {
        Store(out, at::hardswish_backward(gradOutput, self));
      }));
ACLNN(HardswishBackwardV2, Broadcasting([](Tensor gradOutput, Tensor self, Out out) {
        Store(out, at::hardswish_backward(gradOutput, self));
      }));
ACLNN(Hardshrink,
      Broadcasting([](Tensor self, Scalar lambda, Out out) { at::hardshrink_out(out, self, lambda); }));
ACLNN(HardshrinkBackward, Broadcasting([](Tensor gradOutput, Tensor self, Scalar lambda, Out gradInput) {
        at::hardshrink_backward_out(gradInput, gradOutput, self, lambda);
      }));
ACLNN(Softshrink,
      Broadcasting([](Tensor self, Scalar lambda, Out out) { at::softshrink_out(out, self, lambda); }));
ACLNN(SoftshrinkBackward, Broadcasting([](Tensor gradOutput, Tensor self, Scalar lambda, Out gradInput) {
        at::softshrink_backward_out(gradInput, gradOutput, self, lambda);
      }));
ACLNN(Softplus, Broadcasting([](Tensor self, Scalar beta, Scalar threshold, Out out) {
        at::softplus_out(out, self, beta, threshold);
      }));
ACLNN(SoftplusBackward,
      Broadcasting([](Tensor gradOutput, Tensor self, Scalar beta, Scalar threshold, Out gradInput) {
        at::softplus_backward_out(gradInput, gradOutput, self, beta, threshold);
      }));
ACLNN(Prelu, [](Tensor self, Tensor weight, Out out) {
  Store(out, at::_prelu_kernel(self, ChannelWeight(self, weight)).view_as(out));
});
ACLNN(Glu, [](Tensor self, int64_t dim, Out out) { at::glu_out(out, self, dim); });
ACLNN(GluBackward, [](Tensor gradOutput, Tensor self, int64_t dim, Out out) {
  at::glu_backward_out(out, gradOutput, self, dim);
});
ACLNN(PreluBackward, [](Tensor gradOutput, Tensor self, Tensor weight, Out gradInput, Out gradWeight) {
  const auto channels = ChannelWeight(self, weight);
  const auto [forInput, forWeight] = at::_prelu_kernel_backward(gradOutput, self, channels);
  Store(gradInput, forInput.view_as(gradInput));
  Store(gradWeight, forWeight.sum_to_size(channels.sizes()).view_as(gradWeight));
});
