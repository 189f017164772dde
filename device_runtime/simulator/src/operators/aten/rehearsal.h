#pragma once

#include "arguments.h"

// Phase 1 computes some operators on single elements: what cannot be computed of one, because of its dtype or
// of another argument, can of no tensor.
namespace simulator::operators {

// A tensor of one element with the dtype and the number of dimensions of another. Inputs hold ones, outputs
// zeros.
at::Tensor SingleInput(const at::Tensor& tensor);
at::Tensor SingleOutput(const at::Tensor& tensor);

template <typename Parameter>
typename Argument<Parameter>::Held SingleElement(const typename Argument<Parameter>::Held& held) {
  constexpr bool kWritten = std::is_same_v<Parameter, Out> || std::is_same_v<Parameter, OptionalOut>;
  constexpr auto* kSingle = kWritten ? &SingleOutput : &SingleInput;
  using Held = typename Argument<Parameter>::Held;
  if constexpr (std::is_same_v<Held, at::Tensor>) {
    return kSingle(held);
  } else if constexpr (std::is_same_v<Held, std::optional<at::Tensor>>) {
    return held ? Held(kSingle(*held)) : Held();
  } else {
    return held;
  }
}

template <typename... Parameters>
void ComputeHeld(void (*compute)(Parameters...), typename Argument<Parameters>::Held... held) {
  compute(held...);
}

template <typename... Parameters>
void Rehearse(void (*compute)(Parameters...),
              const std::tuple<typename Argument<Parameters>::Held...>& arguments) {
  std::apply([&](const auto&... held) { ComputeHeld(compute, SingleElement<Parameters>(held)...); },
             arguments);
}

}  // namespace simulator::operators
