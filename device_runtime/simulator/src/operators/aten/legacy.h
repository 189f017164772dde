#pragma once

#include <ATen/ATen.h>

#include <string_view>
#include <variant>
#include <vector>

#include "tensor/descriptors.h"
#include "tensor/legacy.h"

// Operators of the older aclop interface: inputs and outputs by position, attributes by name.
namespace simulator::operators {

class LegacyCall {
 public:
  // In device memory, or a copy of what was in host memory; nothing where an optional input is left out.
  using Held = std::variant<std::monostate, aclTensor, at::Tensor>;

  LegacyCall(std::vector<Held> inputs, std::vector<Held> outputs, aclopAttr attributes)
      : inputs_(std::move(inputs)), outputs_(std::move(outputs)), attributes_(std::move(attributes)) {}

  size_t Inputs() const { return inputs_.size(); }
  bool HasInput(size_t index) const;

  // These throw c10::Error if there is no such input or output, or if it does not lie in device memory.
  at::Tensor Input(size_t index) const;
  at::Tensor Output(size_t index) const;

  // The numbers of an input that lists them, such as a shape.
  std::vector<int64_t> Numbers(size_t index) const;

  // The memory of an input from its first element on, seen as a tensor of another shape.
  at::Tensor Strided(size_t index, at::IntArrayRef sizes, at::IntArrayRef strides, int64_t offset) const;

  // Writes an output, converted to its dtype.
  void Return(size_t index, const at::Tensor& result) const;

  // The attribute, or `otherwise` if the caller did not set it. Throws c10::Error if it has another type.
  template <typename Value>
  Value Attribute(std::string_view name, Value otherwise) const {
    const auto found = attributes_.values.find(name);
    if (found == attributes_.values.end()) return otherwise;
    const auto* value = std::get_if<Value>(&found->second);
    TORCH_CHECK_TYPE(value != nullptr, "attribute ", name, " has an unexpected type");
    return *value;
  }

 private:
  std::vector<Held> inputs_;
  std::vector<Held> outputs_;
  aclopAttr attributes_;
};

using LegacyFunction = void (*)(const LegacyCall&);

// Makes `function` known as the operator `type`; for objects of namespace scope.
class LegacyOperator {
 public:
  LegacyOperator(const char* type, LegacyFunction function);
};

}  // namespace simulator::operators
