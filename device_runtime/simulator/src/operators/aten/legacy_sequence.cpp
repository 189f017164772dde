// Recurrent layers over whole sequences in the older aclop interface: rows of steps, then of a batch.
#include "legacy.h"
#include "lstm_step.h"
#include "store.h"

namespace simulator::operators {
namespace {

// Writes one step of several results.
void ReturnStep(const LegacyCall& call, int64_t step, at::ArrayRef<at::Tensor> results) {
  for (size_t i = 0; i < results.size(); ++i) call.Output(i)[step].copy_(results[i]);
}

at::Tensor FirstState(const LegacyCall& call, size_t index) {
  return Widened(call.Input(index)).flatten(0, -2);
}

const LegacyOperator lstm{
    "DynamicRNN", [](const LegacyCall& call) {
      TORCH_CHECK_NOT_IMPLEMENTED(!call.HasInput(3), "sequences of different lengths are not implemented");
      const auto order = call.Attribute<std::string>("gate_order", "ifjo");
      TORCH_CHECK_NOT_IMPLEMENTED(order == "ifjo", "gate_order ", order, " is not implemented");
      const bool backwards = call.Attribute<std::string>("direction", "UNIDIRECTIONAL") != "UNIDIRECTIONAL";
      const auto input = Widened(call.Input(0)), weight = Widened(call.Input(1)),
                 bias = Widened(call.Input(2));
      auto h = FirstState(call, 4), c = FirstState(call, 5);
      for (int64_t i = 0; i < input.size(0); ++i) {
        const auto step = backwards ? input.size(0) - 1 - i : i;
        const auto done = StepOf(at::matmul(at::cat({input[step], h}, 1), weight) + bias, c);
        h = done.h;
        c = done.c;
        ReturnStep(call, step, {h, h, c, done.i, done.g, done.f, done.o, done.tanhC});
      }
    }};

// The columns of the weights belong to the reset gate, the update gate and the new state.
const LegacyOperator gru{
    "DynamicGRUV2", [](const LegacyCall& call) {
      const auto order = call.Attribute<std::string>("gate_order", "zrh");
      TORCH_CHECK_NOT_IMPLEMENTED(order == "rzh" && call.Attribute("reset_after", true), "gate_order ", order,
                                  ", or a reset before the product, is not implemented");
      const auto input = Widened(call.Input(0));
      const auto inputWeight = Widened(call.Input(1)), hiddenWeight = Widened(call.Input(2));
      const auto inputBias = Widened(call.Input(3)), hiddenBias = Widened(call.Input(4));
      auto h = FirstState(call, 6);
      for (int64_t step = 0; step < input.size(0); ++step) {
        const auto ofInput = (at::matmul(input[step], inputWeight) + inputBias).chunk(3, 1);
        const auto ofHidden = (at::matmul(h, hiddenWeight) + hiddenBias).chunk(3, 1);
        const auto reset = at::sigmoid(ofInput[0] + ofHidden[0]),
                   update = at::sigmoid(ofInput[1] + ofHidden[1]);
        const auto fresh = at::tanh(ofInput[2] + reset * ofHidden[2]);
        h = (1 - update) * fresh + update * h;
        ReturnStep(call, step, {h, h, update, reset, fresh, ofHidden[2]});
      }
    }};

}  // namespace
}  // namespace simulator::operators
