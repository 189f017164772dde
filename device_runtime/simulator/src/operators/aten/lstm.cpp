// Long short-term memory: the layers and their gradient, and what a single cell does after its matrix
// products.
#include "binding.h"
#include "lstm_step.h"
#include "recurrent.h"
#include "store.h"

namespace simulator::operators {
namespace {

// The steps of one direction, in the order of time.
std::vector<LstmStep> Forward(const RecurrentWeights& weights, const Sequences& given, at::Tensor h,
                              at::Tensor c, bool reversed) {
  const auto fromInput = at::linear(given.steps, weights.input, weights.inputBias);
  std::vector<LstmStep> steps(fromInput.size(0));
  for (const auto t : Steps(fromInput.size(0), reversed)) {
    steps[t] = StepOf(fromInput[t] + at::linear(h, weights.hidden, weights.hiddenBias), c);
    h = steps[t].h = given.Choose(t, steps[t].h, h);
    c = steps[t].c = given.Choose(t, steps[t].c, c);
  }
  return steps;
}

at::Tensor Stacked(const std::vector<LstmStep>& steps, at::Tensor LstmStep::* part) {
  std::vector<at::Tensor> parts;
  parts.reserve(steps.size());
  for (const auto& step : steps) parts.push_back(step.*part);
  return at::stack(parts);
}

std::optional<at::Tensor> State(Tensors given, size_t index) {
  return given.empty() ? std::nullopt : std::optional(given.at(index));
}

void Lstm(Tensor input, Tensors params, Tensors hx, OptionalTensor batchSizes, bool hasBias, int64_t layers,
          double /*dropout*/, bool train, bool bidirectional, bool batchFirst, Out output, Out hy, Out cy,
          Tensors i, Tensors g, Tensors f, Tensors o, Tensors h, Tensors c, Tensors tanhC) {
  const RecurrentShape shape{hasBias, layers, bidirectional, batchFirst};
  const auto weights = ReadWeights(params, shape);
  const auto sequences = ReadSequences(input, batchSizes, shape);
  const auto hidden = OrZero(State(hx, 0), hy.sizes(), sequences.steps.options());
  const auto cell = OrZero(State(hx, 1), cy.sizes(), sequences.steps.options());
  const std::array<std::pair<at::Tensor LstmStep::*, Tensors>, 7> kept{{{&LstmStep::i, i},
                                                                        {&LstmStep::g, g},
                                                                        {&LstmStep::f, f},
                                                                        {&LstmStep::o, o},
                                                                        {&LstmStep::h, h},
                                                                        {&LstmStep::c, c},
                                                                        {&LstmStep::tanhC, tanhC}}};
  const auto result = RunLayers(sequences.steps, shape, [&](int64_t index, Tensor given, bool reversed) {
    const auto steps =
        Forward(weights[index], {given, sequences.alive}, hidden[index], cell[index], reversed);
    const auto& last = reversed ? steps.front() : steps.back();
    hy[index].copy_(last.h);
    cy[index].copy_(last.c);
    if (train) {
      for (const auto& [part, out] : kept) StoreAt(out, index, Stacked(steps, part));
    }
    return sequences.Masked(Stacked(steps, &LstmStep::h));
  });
  Store(output, TimeFirst(result, shape));
}

void LstmBackward(Tensor input, Tensors hx, Tensors params, OptionalTensor gradOutput, OptionalTensor gradHy,
                  OptionalTensor gradCy, Tensors i, Tensors g, Tensors f, Tensors o, Tensors h, Tensors c,
                  Tensors tanhC, OptionalTensor batchSizes, bool hasBias, int64_t layers, double /*dropout*/,
                  bool /*train*/, bool bidirectional, bool batchFirst, Flags /*outputMask*/,
                  OptionalOut gradInput, OptionalOut gradHx, OptionalOut gradCx, Tensors gradParams) {
  const RecurrentShape shape{hasBias, layers, bidirectional, batchFirst};
  const auto weights = ReadWeights(params, shape);
  const auto sequences = ReadSequences(input, batchSizes, shape);
  const auto options = sequences.steps.options();
  const auto time = sequences.steps.size(0), batch = sequences.steps.size(1);
  const auto size = weights[0].hidden.size(1);
  const std::vector<int64_t> states{layers * shape.Directions(), batch, size};
  const auto hidden = OrZero(State(hx, 0), states, options), cell = OrZero(State(hx, 1), states, options);
  auto gradH = OrZero(gradHy, states, options).clone(), gradC = OrZero(gradCy, states, options).clone();
  const auto above = gradOutput ? TimeFirst(Widened(*gradOutput), shape)
                                : at::zeros({time, batch, shape.Directions() * size}, options);
  std::vector<RecurrentWeights> gradients(weights.size());
  const auto run = [&](int64_t index, Tensor given, Tensor grad, bool reversed) {
    const auto cellsBefore = StatesBefore(Widened(c[index]), cell[index], reversed);
    auto forH = gradH[index], forC = gradC[index];
    std::vector<at::Tensor> gates(given.size(0));
    for (const auto t : Steps(given.size(0), !reversed)) {
      const auto at = [&](Tensors list) { return Widened(list[index][t]); };
      const LstmStep step{at(i), at(f), at(g), at(o), at(c), at(tanhC), at(h)};
      auto beforeC = forC;
      gates[t] = GateGradient(step, cellsBefore[t], grad[t] + forH, beforeC);
      forC = sequences.Choose(t, beforeC, forC);
      forH = sequences.Choose(t, at::mm(gates[t], weights[index].hidden), forH);
    }
    gradH[index].copy_(forH);
    gradC[index].copy_(forC);
    const auto all = sequences.Masked(at::stack(gates));
    return Distribute(weights[index], given, StatesBefore(Widened(h[index]), hidden[index], reversed), all,
                      all, gradients[index]);
  };
  const auto result = TimeFirst(RunLayersBack(sequences.steps, h, above, shape, run), shape);
  Store(gradInput, result.reshape(input.sizes()));
  Store(gradHx, gradH);
  Store(gradCx, gradC);
  StoreWeights(gradParams, gradients, shape);
}

at::Tensor Biased(Tensor gates, OptionalTensor bias) { return bias ? gates + Widened(*bias) : gates; }

}  // namespace
}  // namespace simulator::operators

ACLNN(LSTM, Lstm);
ACLNN(LstmBackward, LstmBackward);
ACLNN(ThnnFusedLstmCell, [](Tensor inputGates, Tensor hiddenGates, Tensor cell, OptionalTensor inputBias,
                            OptionalTensor hiddenBias, Out hy, Out cy, Out storage) {
  const auto gates = Biased(Biased(Widened(inputGates) + Widened(hiddenGates), inputBias), hiddenBias);
  const auto step = StepOf(gates, Widened(cell));
  Store(hy, step.h);
  Store(cy, step.c);
  Store(storage, at::cat({step.i, step.f, step.g, step.o}, -1));
});
ACLNN(ThnnFusedLstmCellBackward,
      [](OptionalTensor gradHy, OptionalTensor gradCy, Tensor cx, Tensor cy, Tensor storage, bool hasBias,
         Out gradGates, Out gradCx, OptionalOut gradBias) {
        const auto parts = Widened(storage).chunk(4, -1);
        const auto c = Widened(cy);
        const LstmStep step{parts[0], parts[1], parts[2], parts[3], c, c.tanh(), {}};
        auto gradC = OrZero(gradCy, c.sizes(), c.options());
        const auto gates = GateGradient(step, Widened(cx), OrZero(gradHy, c.sizes(), c.options()), gradC);
        Store(gradGates, gates);
        Store(gradCx, gradC);
        if (hasBias) Store(gradBias, gates.sum(0));
      });
