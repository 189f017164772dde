// Operators of the older aclop interface for classification, normalisation and packed signs.
#include "legacy.h"
#include "store.h"

namespace simulator::operators {
namespace {

// Labels are probabilities; the second output is the gradient of the loss.
const LegacyOperator crossEntropy{"SoftmaxCrossEntropyWithLogits", [](const LegacyCall& call) {
                                    const auto logits = Widened(call.Input(0)),
                                               labels = Widened(call.Input(1));
                                    const auto logarithms = at::log_softmax(logits, 1);
                                    call.Return(0, -(labels * logarithms).sum(1));
                                    call.Return(1, logarithms.exp() - labels);
                                  }};

const LegacyOperator layerNorm{
    "LayerNormV3", [](const LegacyCall& call) {
      const auto input = call.Input(0);
      const auto axis = at::maybe_wrap_dim(call.Attribute<int64_t>("begin_norm_axis", 0), input.dim());
      const auto shape = input.sizes().slice(axis);
      const auto [result, mean, inverse] =
          at::native_layer_norm(Widened(input), shape, Widened(call.Input(1)).view(shape),
                                Widened(call.Input(2)).view(shape), call.Attribute("epsilon", 1e-5F));
      call.Return(0, result);
      call.Return(1, mean.view(call.Output(1).sizes()));
      call.Return(2, inverse.view(call.Output(2).sizes()));
    }};

constexpr int64_t kBits = 8;

at::Tensor BitValues() {
  return at::bitwise_left_shift(at::ones({kBits}, at::kByte), at::arange(kBits, at::kByte));
}

// A byte holds the signs of eight numbers, the first in the lowest bit.
const LegacyOperator unpackSigns{"SignBitsUnpack", [](const LegacyCall& call) {
                                   const auto bits =
                                       at::bitwise_and(call.Input(0).unsqueeze(-1), BitValues()).ne(0);
                                   call.Return(0, (bits.to(at::kFloat) * 2 - 1).view(call.Output(0).sizes()));
                                 }};

// Numbers that are missing in the last byte are negative.
const LegacyOperator packSigns{"SignBitsPack", [](const LegacyCall& call) {
                                 const auto numbers = call.Output(0).numel() * kBits;
                                 const auto positive = call.Input(0).flatten().ge(0).to(at::kByte);
                                 const auto whole =
                                     at::constant_pad_nd(positive, {0, numbers - positive.numel()}, 0);
                                 const auto bytes = (whole.view({-1, kBits}) * BitValues()).sum(1);
                                 call.Return(0, bytes.view(call.Output(0).sizes()));
                               }};

}  // namespace
}  // namespace simulator::operators
