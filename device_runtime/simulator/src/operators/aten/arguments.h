#pragma once

#include <ATen/ATen.h>

#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "tensors.h"

// The words an implementation declares its parameters with. Each stands for one type of the aclnn interface;
// Argument<> translates between them and keeps a copy of its own for the time between phase 1 and the run.
namespace simulator::operators {

using Tensor = const at::Tensor&;                         // aclTensor, read
using Out = at::Tensor&;                                  // aclTensor, written in place
using OptionalTensor = const std::optional<at::Tensor>&;  // aclTensor or nullptr
using OptionalOut = std::optional<at::Tensor>&;  // aclTensor, or nullptr if the caller does not want it
using Absent = const std::nullptr_t&;  // aclTensor of a kind that is not implemented: nullptr or refused
using Tensors = const std::vector<at::Tensor>&;           // aclTensorList
using Scalar = const at::Scalar&;                         // aclScalar
using OptionalScalar = const std::optional<at::Scalar>&;  // aclScalar or nullptr
using Scalars = const std::vector<at::Scalar>&;           // aclScalarList
using Sizes = const std::vector<int64_t>&;                // aclIntArray; nullptr is empty
using Flags = const std::vector<uint8_t>&;                // aclBoolArray; nullptr is empty
using Type = const at::ScalarType&;                       // aclDataType
using Text = const std::string&;                          // char*

// An output whose shape is known only after the run.
class DynamicOut {
 public:
  explicit DynamicOut(aclTensor* handle) : handle_(handle), memory_(View(*handle)) {}

  void Assign(Tensor result);

 private:
  aclTensor* handle_;  // alive while phase 2 waits for the run
  at::Tensor memory_;
};

// A device tells a missing argument from a wrong one.
class MissingArgument : public std::invalid_argument {
 public:
  MissingArgument() : std::invalid_argument("a required argument is nullptr") {}
};

template <typename Handle>
Handle* Required(Handle* handle) {
  if (handle == nullptr) throw MissingArgument();
  return handle;
}

template <typename Parameter>
struct Argument {
  static_assert(std::is_arithmetic_v<Parameter>, "no aclnn type corresponds to this parameter");
  using Abi = Parameter;
  using Held = Parameter;
  static Held Hold(Abi value) { return value; }
};

template <>
struct Argument<Tensor> {
  using Abi = const aclTensor*;
  using Held = at::Tensor;
  static Held Hold(Abi tensor) { return View(*Required(tensor)); }
};

template <>
struct Argument<Out> : Argument<Tensor> {};

template <>
struct Argument<OptionalTensor> {
  using Abi = const aclTensor*;
  using Held = std::optional<at::Tensor>;
  static Held Hold(Abi tensor) { return tensor == nullptr ? std::nullopt : std::optional(View(*tensor)); }
};

template <>
struct Argument<OptionalOut> : Argument<OptionalTensor> {};

template <>
struct Argument<Absent> {
  using Abi = const aclTensor*;
  using Held = std::nullptr_t;
  static Held Hold(Abi tensor) {
    TORCH_CHECK_NOT_IMPLEMENTED(tensor == nullptr, "an optional tensor was given that is not implemented");
    return nullptr;
  }
};

template <>
struct Argument<DynamicOut&> {
  using Abi = aclTensor*;
  using Held = DynamicOut;
  static Held Hold(Abi tensor) { return DynamicOut(Required(tensor)); }
};

template <>
struct Argument<Tensors> {
  using Abi = const aclTensorList*;
  using Held = std::vector<at::Tensor>;
  static Held Hold(Abi list) {
    Held held;
    if (list == nullptr) return held;
    held.reserve(list->tensors.size());
    for (const auto* tensor : list->tensors) held.push_back(View(*Required(tensor)));
    return held;
  }
};

template <>
struct Argument<Scalar> {
  using Abi = const aclScalar*;
  using Held = at::Scalar;
  static Held Hold(Abi scalar) { return ToScalar(*Required(scalar)); }
};

template <>
struct Argument<OptionalScalar> {
  using Abi = const aclScalar*;
  using Held = std::optional<at::Scalar>;
  static Held Hold(Abi scalar) { return scalar == nullptr ? std::nullopt : std::optional(ToScalar(*scalar)); }
};

template <>
struct Argument<Scalars> {
  using Abi = const aclScalarList*;
  using Held = std::vector<at::Scalar>;
  static Held Hold(Abi list) {
    Held held;
    for (const auto* scalar : Required(list)->scalars) held.push_back(ToScalar(*Required(scalar)));
    return held;
  }
};

template <>
struct Argument<Sizes> {
  using Abi = const aclIntArray*;
  using Held = std::vector<int64_t>;
  static Held Hold(Abi array) { return array == nullptr ? Held{} : array->values; }
};

template <>
struct Argument<Flags> {
  using Abi = const aclBoolArray*;
  using Held = std::vector<uint8_t>;
  static Held Hold(Abi array) { return array == nullptr ? Held{} : array->values; }
};

template <>
struct Argument<Type> {
  using Abi = aclDataType;
  using Held = at::ScalarType;
  static Held Hold(Abi dtype) { return ToScalarType(dtype); }
};

template <>
struct Argument<Text> {
  using Abi = const char*;
  using Held = std::string;
  static Held Hold(Abi text) { return text == nullptr ? "" : text; }
};

}  // namespace simulator::operators
