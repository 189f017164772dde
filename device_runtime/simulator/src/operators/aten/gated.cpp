// Gated linear units: one half of the input, activated, scales the other half.
#include "binding.h"
#include "checks.h"
#include "store.h"

namespace simulator::operators {
namespace {

void CheckHalved(Tensor whole, int64_t dim, Tensor half) {
  const auto along = at::maybe_wrap_dim(dim, whole.dim());
  auto shape = whole.sizes().vec();
  TORCH_CHECK_VALUE(!shape.empty() && shape[along] % 2 == 0, "a tensor of shape ", whole.sizes(),
                    " cannot be halved along dimension ", dim);
  shape[along] /= 2;
  CheckShape(half, shape);
}

// GeLU counts its approximations: 0 exact, 1 tanh.
std::string ApproximationOfGelu(int64_t number) {
  TORCH_CHECK_VALUE(number == 0 || number == 1, "the approximation ", number, " of GeLU is not known");
  return number == 0 ? "none" : "tanh";
}

std::string ApproximationOfGelu(const std::string& name) {
  TORCH_CHECK_VALUE(name.empty() || name == "none" || name == "tanh", "the approximation ", name,
                    " of GeLU is not known");
  return name.empty() ? "none" : name;
}

// The gate and what it scales; `gateFirst` says which half is which.
struct Halves {
  at::Tensor gate, value;
};

Halves HalvesOf(Tensor tensor, int64_t dim, bool gateFirst) {
  const auto halves = at::chunk(Widened(tensor), 2, dim);
  return gateFirst ? Halves{halves[0], halves[1]} : Halves{halves[1], halves[0]};
}

at::Tensor Joined(const Halves& halves, int64_t dim, bool gateFirst) {
  return gateFirst ? at::cat({halves.gate, halves.value}, dim) : at::cat({halves.value, halves.gate}, dim);
}

Plan SwiGlu(Tensor x, int64_t dim, Out out) {
  CheckHalved(x, dim, out);
  return [=]() mutable {
    const auto halves = HalvesOf(x, dim, true);
    Store(out, at::silu(halves.gate) * halves.value);
  };
}

Plan SwiGluGrad(Tensor gradOutput, Tensor x, int64_t dim, Out out) {
  CheckHalved(x, dim, gradOutput);
  CheckSameShape(x, out);
  return [=]() mutable {
    const auto halves = HalvesOf(x, dim, true);
    const auto grad = Widened(gradOutput);
    Store(out, Joined({at::silu_backward(grad * halves.value, halves.gate), grad * at::silu(halves.gate)},
                      dim, true));
  };
}

Plan GeGlu(Tensor x, int64_t dim, int64_t approximate, bool gateFirst, Out out, Out outGelu) {
  CheckHalved(x, dim, out);
  CheckSameShape(out, outGelu);
  const auto approximation = ApproximationOfGelu(approximate);
  return [=]() mutable {
    const auto halves = HalvesOf(x, dim, gateFirst);
    const auto activated = at::gelu(halves.gate, approximation);
    Store(out, activated * halves.value);
    Store(outGelu, activated);
  };
}

Plan GeGluGrad(Tensor gradOutput, Tensor x, Tensor activated, int64_t dim, int64_t approximate,
               bool gateFirst, Out gradInput) {
  CheckHalved(x, dim, gradOutput);
  CheckSameShape(gradOutput, activated);
  CheckSameShape(x, gradInput);
  const auto approximation = ApproximationOfGelu(approximate);
  return [=]() mutable {
    const auto halves = HalvesOf(x, dim, gateFirst);
    const auto grad = Widened(gradOutput);
    const auto forGate = at::gelu_backward(grad * halves.value, halves.gate, approximation);
    Store(gradInput, Joined({forGate, grad * Widened(activated)}, dim, gateFirst));
  };
}

Plan GeluMul(Tensor x, Text approximate, Out out) {
  CheckHalved(x, -1, out);
  const auto approximation = ApproximationOfGelu(approximate);
  return [=]() mutable {
    const auto halves = HalvesOf(x, -1, true);
    Store(out, at::gelu(halves.gate, approximation) * halves.value);
  };
}

// With a group index only as many rows are computed as the groups have together; the other rows are left
// alone.
Plan ClippedSwiGlu(Tensor x, OptionalTensor groupIndex, int64_t dim, double alpha, double limit, double bias,
                   bool interleaved, Out out) {
  CheckHalved(x, dim, out);
  TORCH_CHECK_VALUE(limit > 0, "the limit ", limit, " is not positive");
  const auto along = at::maybe_wrap_dim(dim, x.dim());
  const auto rows = c10::multiply_integers(x.sizes().slice(0, along));
  return [=]() mutable {
    const auto used = groupIndex ? std::min(rows, groupIndex->sum().item<int64_t>()) : rows;
    const auto input = Widened(x).reshape({rows, -1}).narrow(0, 0, used);
    const auto length = input.size(1);
    const auto gate = interleaved ? input.slice(1, 0, length, 2) : input.narrow(1, 0, length / 2);
    const auto value = interleaved ? input.slice(1, 1, length, 2) : input.narrow(1, length / 2, length / 2);
    const auto clipped = gate.clamp_max(limit);
    const auto result = clipped * at::sigmoid(clipped * alpha) * (value.clamp(-limit, limit) + bias);
    if (used == rows) return Store(out, result.view(out.sizes()));
    auto whole = Widened(out).reshape({rows, -1}).clone();
    whole.narrow(0, 0, used).copy_(result);
    Store(out, whole.view(out.sizes()));
  };
}

}  // namespace
}  // namespace simulator::operators

ACLNN(SwiGlu, Planning(SwiGlu));
ACLNN(SwiGluGrad, Planning(SwiGluGrad));
ACLNN(ClippedSwiglu, Planning(ClippedSwiGlu));
ACLNN(GeGluV3, Planning(GeGlu));
ACLNN(GeGluV3Backward, Planning(GeGluGrad));
ACLNN(GeluMul, Planning(GeluMul));
