#pragma once

#include <vector>

#include "store.h"

// What LSTM and GRU have in common. Sequences are [time, batch, features], the gates lie side by side in the
// last dimension in PyTorch's order, and half precision is computed in float. As documented, dropout between
// layers does nothing.
namespace simulator::operators {

// One direction of one layer, or the gradients of it. Without biases those are undefined.
struct RecurrentWeights {
  at::Tensor input;
  at::Tensor hidden;
  at::Tensor inputBias;
  at::Tensor hiddenBias;
};

struct RecurrentShape {
  bool hasBias;
  int64_t layers;
  bool bidirectional;
  bool batchFirst;

  int64_t Directions() const { return bidirectional ? 2 : 1; }
};

// The weights of each layer, of both its directions one after the other.
std::vector<RecurrentWeights> ReadWeights(Tensors params, const RecurrentShape& shape);

void StoreWeights(Tensors out, const std::vector<RecurrentWeights>& weights, const RecurrentShape& shape);

// Exchanges [time, batch] and [batch, time] if the caller wants the batch first.
at::Tensor TimeFirst(Tensor sequence, const RecurrentShape& shape);

// Sequences side by side. If they differ in length, `alive` says which rows of which steps are theirs, as
// [time, batch, 1].
struct Sequences {
  at::Tensor steps;
  std::optional<at::Tensor> alive;

  // At one step: `yes` for the rows that are of a sequence there, `no` for those of one that is over.
  at::Tensor Choose(int64_t step, Tensor yes, Tensor no) const;

  // Nothing instead of what the steps after the end of a sequence would add.
  at::Tensor Masked(Tensor steps) const;
};

// Reads an input and how many sequences last to each step, the longest first; all do if that is left out.
// With it, the input is [time * batch, features].
Sequences ReadSequences(Tensor input, OptionalTensor batchSizes, const RecurrentShape& shape);

// A tensor that may be left out: zero then.
at::Tensor OrZero(OptionalTensor given, at::IntArrayRef sizes, const at::TensorOptions& options);

// The numbers of the steps in the order they are computed.
std::vector<int64_t> Steps(int64_t count, bool reversed);

// The state before each step.
at::Tensor StatesBefore(Tensor states, Tensor initial, bool reversed);

// Stores the gradients of one direction's weights and returns that of its input, from those of both kinds of
// gates at each step.
at::Tensor Distribute(const RecurrentWeights& weights, Tensor sequence, Tensor hiddenBefore,
                      Tensor gradInputGates, Tensor gradHiddenGates, RecurrentWeights& gradients);

// The output of the last layer. `run(index, input, reversed)` gives the hidden states of one direction.
template <typename Run>
at::Tensor RunLayers(at::Tensor sequence, const RecurrentShape& shape, Run run) {
  for (int64_t layer = 0; layer < shape.layers; ++layer) {
    std::vector<at::Tensor> outputs;
    for (int64_t direction = 0; direction < shape.Directions(); ++direction) {
      outputs.push_back(run(layer * shape.Directions() + direction, sequence, direction == 1));
    }
    sequence = at::cat(outputs, -1);
  }
  return sequence;
}

// The gradient of the first layer's input. `run(index, input, gradOutput, reversed)` gives what one direction
// adds to the gradient of its input; `hidden` are the hidden states of all directions.
template <typename Run>
at::Tensor RunLayersBack(Tensor sequence, Tensors hidden, at::Tensor gradOutput, const RecurrentShape& shape,
                         Run run) {
  const auto directions = shape.Directions();
  for (int64_t layer = shape.layers - 1; layer >= 0; --layer) {
    const auto below = hidden.begin() + (layer - 1) * directions;
    const auto input =
        layer == 0 ? sequence : Widened(at::cat(std::vector<at::Tensor>(below, below + directions), -1));
    const auto parts = gradOutput.chunk(directions, -1);
    gradOutput = at::zeros_like(input);
    for (int64_t direction = 0; direction < directions; ++direction) {
      gradOutput += run(layer * directions + direction, input, parts[direction], direction == 1);
    }
  }
  return gradOutput;
}

}  // namespace simulator::operators
