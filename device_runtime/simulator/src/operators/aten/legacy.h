#pragma once

#include <ATen/ATen.h>

#include <string_view>
#include <vector>

#include "tensor/legacy.h"

// Operators of the older aclop interface: inputs and outputs by position, all contiguous, attributes by name.
namespace simulator::operators {

class LegacyCall {
 public:
  LegacyCall(std::vector<at::Tensor> inputs, std::vector<at::Tensor> outputs, aclopAttr attributes)
      : inputs_(std::move(inputs)), outputs_(std::move(outputs)), attributes_(std::move(attributes)) {}

  // Throws c10::Error if there is none.
  const at::Tensor& Input(size_t index) const;
  at::Tensor& Output(size_t index);

  const std::vector<at::Tensor>& Inputs() const { return inputs_; }
  bool HasInput(size_t index) const { return index < inputs_.size() && inputs_[index].defined(); }

  // The attribute, or `otherwise` if the caller did not set it. Throws c10::Error if it has another type.
  template <typename Value>
  Value Attribute(std::string_view name, Value otherwise) const {
    const auto found = attributes_.values.find(name);
    if (found == attributes_.values.end()) return otherwise;
    const auto* value = std::get_if<Value>(&found->second);
    TORCH_CHECK_TYPE(value != nullptr, "attribute ", name, " has an unexpected type");
    return *value;
  }

  // The same over the same memory: an operator may run again, and must not change what the next run finds.
  LegacyCall ForOneRun() const;

 private:
  std::vector<at::Tensor> inputs_;  // undefined where an optional one is left out
  std::vector<at::Tensor> outputs_;
  aclopAttr attributes_;
};

using LegacyFunction = void (*)(LegacyCall&);

// Makes `function` known as the operator `type`; for objects of namespace scope.
class LegacyOperator {
 public:
  LegacyOperator(const char* type, LegacyFunction function);
};

}  // namespace simulator::operators
