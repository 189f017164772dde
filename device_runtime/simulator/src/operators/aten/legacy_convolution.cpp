// Convolutions, and their gradients, in the older aclop interface.
#include "legacy.h"
#include "store.h"

namespace simulator::operators {
namespace {

struct Geometry {
  std::vector<int64_t> strides, padding, dilation, outputPadding;
  int64_t groups;
};

// An attribute has a number for each dimension, of which the first two, batch and channels, say nothing.
std::vector<int64_t> Spatial(const LegacyCall& call, std::string_view name, size_t dims, int64_t otherwise) {
  const auto values = call.Attribute(name, std::vector<int64_t>(dims + 2, otherwise));
  TORCH_CHECK_VALUE(values.size() == dims + 2, "attribute ", name, " has ", values.size(), " numbers");
  return {values.begin() + 2, values.end()};
}

// The paddings are pairs, before and behind.
std::vector<int64_t> Padding(const LegacyCall& call, size_t dims) {
  const auto pairs = call.Attribute("pads", std::vector<int64_t>(dims * 2, 0));
  TORCH_CHECK_VALUE(pairs.size() == dims * 2, "attribute pads has ", pairs.size(), " numbers");
  std::vector<int64_t> padding;
  for (size_t dim = 0; dim < dims; ++dim) {
    TORCH_CHECK_NOT_IMPLEMENTED(pairs[dim * 2] == pairs[dim * 2 + 1], "unequal paddings are not implemented");
    padding.push_back(pairs[dim * 2]);
  }
  return padding;
}

Geometry GeometryOf(const LegacyCall& call, const at::Tensor& weight) {
  const auto dims = static_cast<size_t>(weight.dim() - 2);
  return {Spatial(call, "strides", dims, 1), Padding(call, dims), Spatial(call, "dilations", dims, 1),
          Spatial(call, "output_padding", dims, 0), call.Attribute<int64_t>("groups", 1)};
}

void Convolve(const LegacyCall& call, size_t first, bool transposed) {
  const auto input = Widened(call.Input(first)), weight = Widened(call.Input(first + 1));
  const auto bias = call.HasInput(first + 2) ? std::optional(Widened(call.Input(first + 2))) : std::nullopt;
  const auto [strides, padding, dilation, outputPadding, groups] = GeometryOf(call, weight);
  call.Return(
      0, at::convolution(input, weight, bias, strides, padding, dilation, transposed, outputPadding, groups));
}

// The inputs of transposed ones begin with the shape of the result.
const LegacyOperator conv2d{"Conv2D", [](const LegacyCall& call) { Convolve(call, 0, false); }};
const LegacyOperator conv3d{"Conv3D", [](const LegacyCall& call) { Convolve(call, 0, false); }};
const LegacyOperator transposed2d{"Conv2DTranspose", [](const LegacyCall& call) { Convolve(call, 1, true); }};
const LegacyOperator transposed3d{"Conv3DTranspose", [](const LegacyCall& call) { Convolve(call, 1, true); }};

enum class Wanted { kInput, kWeight };

void Differentiate(const LegacyCall& call, const at::Tensor& input, const at::Tensor& weight, Wanted wanted) {
  const auto grad = Widened(call.Input(2));
  const auto [strides, padding, dilation, outputPadding, groups] = GeometryOf(call, weight);
  const bool ofInput = wanted == Wanted::kInput;
  const auto gradients =
      at::convolution_backward(grad, input, weight, std::nullopt, strides, padding, dilation, false,
                               outputPadding, groups, {ofInput, !ofInput, false});
  call.Return(0, ofInput ? std::get<0>(gradients) : std::get<1>(gradients));
}

void DifferentiateInput(const LegacyCall& call) {
  Differentiate(call, at::empty(call.Numbers(0), at::kFloat), Widened(call.Input(1)), Wanted::kInput);
}

void DifferentiateWeight(const LegacyCall& call) {
  Differentiate(call, Widened(call.Input(0)), at::empty(call.Numbers(1), at::kFloat), Wanted::kWeight);
}

const LegacyOperator input2d{"Conv2DBackpropInput", DifferentiateInput};
const LegacyOperator input3d{"Conv3DBackpropInput", DifferentiateInput};
const LegacyOperator weight2d{"Conv2DBackpropFilter", DifferentiateWeight};
const LegacyOperator weight3d{"Conv3DBackpropFilter", DifferentiateWeight};

}  // namespace
}  // namespace simulator::operators
