#pragma once

#include "arguments.h"

namespace simulator::operators {

// Writes a result of the output's shape, converting the dtype if that loses no category (float to int would).
inline void Store(Out out, Tensor result) {
  if (out.numel() == 0 && result.numel() == 0) return;
  TORCH_CHECK_VALUE(out.sizes() == result.sizes(), "the result has shape ", result.sizes(),
                    ", the output tensor ", out.sizes());
  TORCH_CHECK_TYPE(c10::canCast(result.scalar_type(), out.scalar_type()), "the result has dtype ",
                   result.scalar_type(), ", which the output dtype ", out.scalar_type(), " cannot hold");
  out.copy_(result);
}

inline void Store(OptionalOut out, Tensor result) {
  if (out) Store(*out, result);
}

// Writes each result of a list to its output.
inline void StoreAll(Tensors out, at::ArrayRef<at::Tensor> results) {
  TORCH_CHECK_VALUE(out.size() == results.size(), results.size(), " results do not match ", out.size(),
                    " outputs");
  for (size_t i = 0; i < out.size(); ++i) {
    auto target = out[i];
    Store(target, results[i]);
  }
}

// Writes one result of a list that the caller may not want at all.
inline void StoreAt(Tensors out, size_t index, Tensor result) {
  if (out.empty()) return;
  auto target = out.at(index);
  Store(target, result);
}

// As the device does, operators that accumulate compute half precision in float and round once.
inline bool IsHalf(at::ScalarType dtype) { return dtype == at::kHalf || dtype == at::kBFloat16; }

inline at::Tensor Widened(Tensor tensor) {
  return IsHalf(tensor.scalar_type()) ? tensor.to(at::kFloat) : tensor;
}

inline std::optional<at::Tensor> Widened(OptionalTensor tensor) {
  return tensor ? std::optional(Widened(*tensor)) : std::nullopt;
}

}  // namespace simulator::operators
