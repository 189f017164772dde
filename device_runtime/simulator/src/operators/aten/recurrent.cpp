#include "recurrent.h"

#include <algorithm>
#include <numeric>

namespace simulator::operators {

std::vector<RecurrentWeights> ReadWeights(Tensors params, const RecurrentShape& shape) {
  const size_t each = shape.hasBias ? 4 : 2;
  const auto count = static_cast<size_t>(shape.layers * shape.Directions());
  TORCH_CHECK_VALUE(params.size() == each * count, params.size(), " weights do not match ", shape.layers,
                    " layers of ", shape.Directions(), " directions");
  std::vector<RecurrentWeights> weights(count);
  for (size_t i = 0; i < count; ++i) {
    weights[i].input = Widened(params[each * i]);
    weights[i].hidden = Widened(params[each * i + 1]);
    if (!shape.hasBias) continue;
    weights[i].inputBias = Widened(params[each * i + 2]);
    weights[i].hiddenBias = Widened(params[each * i + 3]);
  }
  return weights;
}

void StoreWeights(Tensors out, const std::vector<RecurrentWeights>& weights, const RecurrentShape& shape) {
  std::vector<at::Tensor> flat;
  for (const auto& each : weights) {
    flat.insert(flat.end(), {each.input, each.hidden});
    if (shape.hasBias) flat.insert(flat.end(), {each.inputBias, each.hiddenBias});
  }
  StoreAll(out, flat);
}

at::Tensor TimeFirst(Tensor sequence, const RecurrentShape& shape) {
  return shape.batchFirst ? sequence.transpose(0, 1) : sequence;
}

at::Tensor Sequences::Choose(int64_t step, Tensor yes, Tensor no) const {
  return alive ? at::where((*alive)[step], yes, no) : yes;
}

at::Tensor Sequences::Masked(Tensor steps) const { return alive ? steps * *alive : steps; }

Sequences ReadSequences(Tensor input, OptionalTensor batchSizes, const RecurrentShape& shape) {
  if (!batchSizes || batchSizes->numel() == 0) return {TimeFirst(Widened(input), shape), std::nullopt};
  const auto time = batchSizes->numel();
  TORCH_CHECK_VALUE(input.dim() == 2 && input.size(0) % time == 0, "an input of shape ", input.sizes(),
                    " cannot be divided into ", time, " steps");
  const auto steps = Widened(input).reshape({time, input.size(0) / time, input.size(1)});
  const auto rows = at::arange(steps.size(1), batchSizes->options());
  return {steps, (rows.unsqueeze(0) < batchSizes->unsqueeze(1)).unsqueeze(-1)};
}

at::Tensor OrZero(OptionalTensor given, at::IntArrayRef sizes, const at::TensorOptions& options) {
  return given ? Widened(*given) : at::zeros(sizes, options);
}

std::vector<int64_t> Steps(int64_t count, bool reversed) {
  std::vector<int64_t> steps(count);
  std::iota(steps.begin(), steps.end(), 0);
  if (reversed) std::reverse(steps.begin(), steps.end());
  return steps;
}

at::Tensor StatesBefore(Tensor states, Tensor initial, bool reversed) {
  const auto kept = states.size(0) - 1;
  const auto first = initial.unsqueeze(0);
  return reversed ? at::cat({states.narrow(0, 1, kept), first}) : at::cat({first, states.narrow(0, 0, kept)});
}

at::Tensor Distribute(const RecurrentWeights& weights, Tensor sequence, Tensor hiddenBefore,
                      Tensor gradInputGates, Tensor gradHiddenGates, RecurrentWeights& gradients) {
  const auto inputRows = gradInputGates.flatten(0, 1), hiddenRows = gradHiddenGates.flatten(0, 1);
  gradients.input = at::mm(inputRows.t(), sequence.flatten(0, 1));
  gradients.hidden = at::mm(hiddenRows.t(), hiddenBefore.flatten(0, 1));
  gradients.inputBias = inputRows.sum(0);
  gradients.hiddenBias = hiddenRows.sum(0);
  return at::matmul(gradInputGates, weights.input);
}

}  // namespace simulator::operators
