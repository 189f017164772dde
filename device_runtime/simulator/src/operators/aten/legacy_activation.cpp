// Activations and dropout of the older aclop interface.
#include <ATen/CPUGeneratorImpl.h>

#include "dropout.h"
#include "legacy.h"
#include "store.h"

namespace simulator::operators {
namespace {

const LegacyOperator swish{"Swish", [](const LegacyCall& call) {
                             const auto self = Widened(call.Input(0));
                             const auto scale = call.Attribute("scale", 1.0F);
                             call.Return(0, self * at::sigmoid(self * scale));
                           }};

const LegacyOperator mish{"Mish",
                          [](const LegacyCall& call) { call.Return(0, at::mish(Widened(call.Input(0)))); }};

const LegacyOperator swishGradient{
    "SwishGrad", [](const LegacyCall& call) {
      call.Return(0, at::silu_backward(Widened(call.Input(0)), Widened(call.Input(1))));
    }};

const LegacyOperator mishGradient{"MishGrad", [](const LegacyCall& call) {
                                    call.Return(
                                        0, at::mish_backward(Widened(call.Input(0)), Widened(call.Input(1))));
                                  }};

// The probability is that of keeping an element.
void KeepScaled(const LegacyCall& call, Tensor kept) {
  const auto self = Widened(call.Input(0));
  const auto keep = call.Input(2).item<double>();
  call.Return(0, keep == 0 ? at::zeros_like(self) : self * kept / keep);
}

const LegacyOperator doMask{"DropOutDoMask", [](const LegacyCall& call) {
                              KeepScaled(call, KeptElements(call.Input(1), call.Input(0).sizes()));
                            }};

// A byte for each element, where the operator above has a bit.
const LegacyOperator doByteMask{"DropOutDoMaskV3", [](const LegacyCall& call) {
                                  KeepScaled(call, call.Input(1).view(call.Input(0).sizes()));
                                }};

const LegacyOperator byteMask{"DropOutGenMaskV3", [](const LegacyCall& call) {
                                const auto seed = call.Attribute<int64_t>("seed", 0);
                                auto generator = at::detail::createCPUGenerator(static_cast<uint64_t>(seed));
                                call.Output(0).bernoulli_(call.Input(1).item<double>(), generator);
                              }};

}  // namespace
}  // namespace simulator::operators
