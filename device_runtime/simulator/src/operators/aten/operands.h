#pragma once

#include <type_traits>

#include "arguments.h"
#include "runtime/operand.h"

// The tensors of a call as listeners are shown them.
namespace simulator::operators {

inline Operand OperandOf(const aclTensor& tensor) { return {tensor.dtype, tensor.format, tensor.viewDims}; }

template <typename Parameter>
constexpr bool kWritten = std::is_same_v<Parameter, Out> || std::is_same_v<Parameter, OptionalOut> ||
                          std::is_same_v<Parameter, DynamicOut&>;

template <typename Parameter>
void AddOperand(typename Argument<Parameter>::Abi given, Operands& operands) {
  using Abi = std::decay_t<decltype(given)>;
  auto& side = kWritten<Parameter> ? operands.outputs : operands.inputs;
  if constexpr (std::is_convertible_v<Abi, const aclTensor*>) {
    if (given != nullptr) side.push_back(OperandOf(*given));
  } else if constexpr (std::is_convertible_v<Abi, const aclTensorList*>) {
    if (given == nullptr) return;
    for (const aclTensor* tensor : given->tensors) side.push_back(OperandOf(*tensor));
  }
}

}  // namespace simulator::operators
