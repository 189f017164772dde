// Gated recurrent units: the layers and their gradient.
#include "binding.h"
#include "recurrent.h"
#include "store.h"

namespace simulator::operators {
namespace {

// The activated gates, reset, update and new, what the hidden state contributes to the new gate, and the
// state after the step.
struct GruStep {
  at::Tensor r, z, n, hn, h;
};

GruStep StepOf(Tensor fromInput, Tensor fromHidden, Tensor before) {
  const auto input = fromInput.chunk(3, -1), hidden = fromHidden.chunk(3, -1);
  GruStep step{(input[0] + hidden[0]).sigmoid(), (input[1] + hidden[1]).sigmoid(), {}, hidden[2], {}};
  step.n = (input[2] + step.r * step.hn).tanh();
  step.h = (1 - step.z) * step.n + step.z * before;
  return step;
}

// The gradients of the gates as sums of products with the input and with the hidden state.
std::pair<at::Tensor, at::Tensor> GateGradients(const GruStep& step, Tensor before, Tensor gradH) {
  const auto forNew = gradH * (1 - step.z) * (1 - step.n.square());
  const auto forReset = forNew * step.hn * step.r * (1 - step.r);
  const auto forUpdate = gradH * (before - step.n) * step.z * (1 - step.z);
  return {at::cat({forReset, forUpdate, forNew}, -1), at::cat({forReset, forUpdate, forNew * step.r}, -1)};
}

// The steps of one direction, in the order of time.
std::vector<GruStep> Forward(const RecurrentWeights& weights, const Sequences& given, at::Tensor h,
                             bool reversed) {
  const auto fromInput = at::linear(given.steps, weights.input, weights.inputBias);
  std::vector<GruStep> steps(fromInput.size(0));
  for (const auto t : Steps(fromInput.size(0), reversed)) {
    steps[t] = StepOf(fromInput[t], at::linear(h, weights.hidden, weights.hiddenBias), h);
    h = steps[t].h = given.Choose(t, steps[t].h, h);
  }
  return steps;
}

at::Tensor Stacked(const std::vector<GruStep>& steps, at::Tensor GruStep::* part) {
  std::vector<at::Tensor> parts;
  parts.reserve(steps.size());
  for (const auto& step : steps) parts.push_back(step.*part);
  return at::stack(parts);
}

void Gru(Tensor input, Tensors params, OptionalTensor hx, OptionalTensor batchSizes, bool hasBias,
         int64_t layers, double /*dropout*/, bool /*train*/, bool bidirectional, bool batchFirst, Out output,
         Out hy, Tensors r, Tensors z, Tensors n, Tensors hn, Tensors h) {
  const RecurrentShape shape{hasBias, layers, bidirectional, batchFirst};
  const auto weights = ReadWeights(params, shape);
  const auto sequences = ReadSequences(input, batchSizes, shape);
  const auto hidden = OrZero(hx, hy.sizes(), sequences.steps.options());
  const std::array<std::pair<at::Tensor GruStep::*, Tensors>, 5> kept{
      {{&GruStep::r, r}, {&GruStep::z, z}, {&GruStep::n, n}, {&GruStep::hn, hn}, {&GruStep::h, h}}};
  const auto result = RunLayers(sequences.steps, shape, [&](int64_t index, Tensor given, bool reversed) {
    const auto steps = Forward(weights[index], {given, sequences.alive}, hidden[index], reversed);
    hy[index].copy_((reversed ? steps.front() : steps.back()).h);
    for (const auto& [part, out] : kept) StoreAt(out, index, Stacked(steps, part));
    return sequences.Masked(Stacked(steps, &GruStep::h));
  });
  Store(output, TimeFirst(result, shape));
}

void GruBackward(Tensor input, Tensors params, OptionalTensor hx, Tensor gradOutput, Tensor gradHy, Tensors r,
                 Tensors z, Tensors n, Tensors hn, Tensors h, OptionalTensor batchSizes, bool hasBias,
                 int64_t layers, bool bidirectional, bool batchFirst, OptionalOut gradInput,
                 OptionalOut gradHx, Tensors gradParams) {
  const RecurrentShape shape{hasBias, layers, bidirectional, batchFirst};
  const auto weights = ReadWeights(params, shape);
  const auto sequences = ReadSequences(input, batchSizes, shape);
  const auto hidden = OrZero(hx, gradHy.sizes(), sequences.steps.options());
  const auto gradH = Widened(gradHy).clone();
  std::vector<RecurrentWeights> gradients(weights.size());
  const auto run = [&](int64_t index, Tensor given, Tensor grad, bool reversed) {
    const auto before = StatesBefore(Widened(h[index]), hidden[index], reversed);
    auto forH = gradH[index];
    std::vector<at::Tensor> inputGates(given.size(0)), hiddenGates(given.size(0));
    for (const auto t : Steps(given.size(0), !reversed)) {
      const auto at = [&](Tensors list) { return Widened(list[index][t]); };
      const GruStep step{at(r), at(z), at(n), at(hn), at(h)};
      const auto total = grad[t] + forH;
      std::tie(inputGates[t], hiddenGates[t]) = GateGradients(step, before[t], total);
      forH = sequences.Choose(t, total * step.z + at::mm(hiddenGates[t], weights[index].hidden), forH);
    }
    gradH[index].copy_(forH);
    return Distribute(weights[index], given, before, sequences.Masked(at::stack(inputGates)),
                      sequences.Masked(at::stack(hiddenGates)), gradients[index]);
  };
  const auto above = TimeFirst(Widened(gradOutput), shape);
  const auto result = TimeFirst(RunLayersBack(sequences.steps, h, above, shape, run), shape);
  Store(gradInput, result.reshape(input.sizes()));
  Store(gradHx, gradH);
  StoreWeights(gradParams, gradients, shape);
}

}  // namespace
}  // namespace simulator::operators

ACLNN(GRU, Gru);
ACLNN(GRUBackward, GruBackward);
