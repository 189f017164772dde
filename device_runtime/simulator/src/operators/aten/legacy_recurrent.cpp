// The cell of a long short-term memory in the older aclop interface: one step of a sequence.
#include "legacy.h"
#include "lstm_step.h"
#include "store.h"

namespace simulator::operators {
namespace {

// torch_npu names the same order of the gates differently in the two directions.
void CheckCell(const LegacyCall& call, size_t sequence, const char* gateOrder) {
  TORCH_CHECK_NOT_IMPLEMENTED(call.Input(sequence).size(0) == 1, "a sequence is not implemented");
  const auto order = call.Attribute<std::string>("gate_order", gateOrder);
  TORCH_CHECK_NOT_IMPLEMENTED(order == gateOrder, "gate_order ", order, " is not implemented");
}

// Without the dimension of the sequence, which not all of them have.
at::Tensor Rows(const LegacyCall& call, size_t index) { return Widened(call.Input(index)).flatten(0, -2); }

void ReturnRows(const LegacyCall& call, at::ArrayRef<at::Tensor> results) {
  for (size_t i = 0; i < results.size(); ++i) call.Return(i, results[i].view(call.Output(i).sizes()));
}

const LegacyOperator cell{
    "DynamicRNNV2", [](const LegacyCall& call) {
      CheckCell(call, 0, "ifco");
      auto gates = at::mm(Rows(call, 0), Rows(call, 1)) + at::mm(Rows(call, 5), Rows(call, 2));
      if (call.HasInput(3)) gates += Widened(call.Input(3));
      const auto step = StepOf(gates, Rows(call, 6));
      ReturnRows(call, {step.h, step.h, step.c, step.i, step.g, step.f, step.o, step.tanhC});
    }};

const LegacyOperator cellGradient{
    "DynamicRNNV2Grad", [](const LegacyCall& call) {
      CheckCell(call, 3, "ifjo");
      const auto input = Rows(call, 0), hiddenBefore = Rows(call, 4);
      const LstmStep step{Rows(call, 11), Rows(call, 13), Rows(call, 12), Rows(call, 14),
                          Rows(call, 7),  Rows(call, 15), Rows(call, 6)};
      auto gradC = Rows(call, 10);
      const auto gates = GateGradient(step, Rows(call, 5), Rows(call, 8) + Rows(call, 9), gradC);
      ReturnRows(call, {at::mm(input.t(), gates), at::mm(hiddenBefore.t(), gates), gates.sum(0),
                        at::mm(gates, Rows(call, 1).t()), at::mm(gates, Rows(call, 2).t()), gradC});
    }};

}  // namespace
}  // namespace simulator::operators
