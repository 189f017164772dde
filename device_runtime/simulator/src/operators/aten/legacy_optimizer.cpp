// Steps of optimizers in the older aclop interface.
#include "legacy.h"
#include "store.h"

namespace simulator::operators {
namespace {

double ScalarAt(const LegacyCall& call, size_t index) { return call.Input(index).item<double>(); }

// As ops-nn computes it: the limit only switches clipping on, gradients are scaled to a norm of one.
double ClipFactor(const LegacyCall& call) {
  const double limit = ScalarAt(call, 8), norm = ScalarAt(call, 9);
  return limit > 0 && norm > 1 && std::isfinite(norm) ? 1 / norm : 1;
}

// Inputs: variable, both moments, learning rate, beta1, beta2, epsilon, gradient, limit and norm of the
// gradient, weight decay, and for mbart_adam the size of the step.
void ApplyAdamV2(const LegacyCall& call) {
  const bool mbart = call.Attribute<std::string>("adam_mode", "adam") == "mbart_adam";
  const auto gradient = Widened(call.Input(7)) * (mbart ? 1 : ClipFactor(call));
  const auto variable = Widened(call.Input(0));
  const double rate = ScalarAt(call, 3), beta1 = ScalarAt(call, 4), beta2 = ScalarAt(call, 5);
  const auto mean = Widened(call.Input(1)) * beta1 + gradient * (1 - beta1);
  const auto square = Widened(call.Input(2)) * beta2 + gradient.square() * (1 - beta2);
  const auto update = mean / (square.sqrt() + ScalarAt(call, 6));
  const double step = mbart ? ScalarAt(call, 11) : rate;
  call.Return(0, variable - update * step - variable * (rate * ScalarAt(call, 10)));
  call.Return(1, mean);
  call.Return(2, square);
}

const LegacyOperator applyAdam{"ApplyAdamV2", &ApplyAdamV2};

}  // namespace
}  // namespace simulator::operators
