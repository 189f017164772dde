#pragma once

#include <functional>
#include <tuple>
#include <type_traits>
#include <utility>

#include "arguments.h"
#include "launch.h"

namespace simulator::operators {

// An implementation with a check of its own for phase 1, which gets the same arguments.
template <typename Check, typename Compute>
struct Checked {
  Check check;
  Compute compute;
};

template <typename Check, typename Compute>
Checked(Check, Compute) -> Checked<Check, Compute>;

template <typename Implementation>
constexpr const Implementation& ComputeOf(const Implementation& implementation) {
  return implementation;
}

template <typename Check, typename Compute>
constexpr const Compute& ComputeOf(const Checked<Check, Compute>& implementation) {
  return implementation.compute;
}

template <typename Implementation, typename Arguments>
void CheckArguments(const Implementation& /*implementation*/, Arguments& /*arguments*/) {}

template <typename Check, typename Compute, typename Arguments>
void CheckArguments(const Checked<Check, Compute>& implementation, Arguments& arguments) {
  std::apply(implementation.check, arguments);
}

// What one run works on. A tensor gets new metadata over the same memory, so that no run can change the next
// one's.
template <typename Held>
Held ForOneRun(const Held& value) {
  return value;
}

inline at::Tensor ForOneRun(const at::Tensor& tensor) {
  return at::Tensor(tensor.unsafeGetTensorImpl()->shallow_copy_and_detach(c10::VariableVersion(0), false));
}

inline std::optional<at::Tensor> ForOneRun(const std::optional<at::Tensor>& tensor) {
  return tensor ? std::optional(ForOneRun(*tensor)) : std::nullopt;
}

// An ATen `out` function may resize what it writes to; device memory cannot follow.
template <typename Held>
void CheckUnchanged(const Held& /*given*/, const Held& /*after*/) {}

inline void CheckUnchanged(const at::Tensor& given, const at::Tensor& after) {
  TORCH_CHECK_VALUE(given.sizes() == after.sizes(), "the result has shape ", after.sizes(),
                    ", the output tensor ", given.sizes());
}

inline void CheckUnchanged(const std::optional<at::Tensor>& given, const std::optional<at::Tensor>& after) {
  if (given) CheckUnchanged(*given, *after);
}

template <const auto& kImplementation, const char* kName, typename Signature>
struct Operator;

// The two functions of one operator, their C signature deduced from the implementation's parameters.
template <const auto& kImplementation, const char* kName, typename... Parameters>
struct Operator<kImplementation, kName, std::function<void(Parameters...)>> {
  using Arguments = std::tuple<typename Argument<Parameters>::Held...>;
  static constexpr bool kDynamic = (std::is_same_v<Parameters, DynamicOut&> || ...);

  static aclnnStatus GetWorkspaceSize(typename Argument<Parameters>::Abi... given, uint64_t* workspaceSize,
                                      aclOpExecutor** executor) {
    return Prepare(kName, [&] {
      Arguments arguments{Argument<Parameters>::Hold(given)...};
      CheckArguments(kImplementation, arguments);
      *Required(workspaceSize) = 0;
      auto run = [held = std::move(arguments)] { return Run(kName, [&] { ComputeOn(held, Indices()); }); };
      *Required(executor) = new aclOpExecutor{kName, std::move(run)};
    });
  }

  static constexpr auto* kLaunch = kDynamic ? &LaunchAndWait : &Launch;

 private:
  using Indices = std::index_sequence_for<Parameters...>;

  template <size_t... kIndices>
  static void ComputeOn(const Arguments& held, std::index_sequence<kIndices...>) {
    Arguments arguments{ForOneRun(std::get<kIndices>(held))...};
    std::apply(ComputeOf(kImplementation), arguments);
    (CheckUnchanged(std::get<kIndices>(held), std::get<kIndices>(arguments)), ...);
  }
};

template <typename Implementation>
using SignatureOf = decltype(std::function{ComputeOf(std::declval<const Implementation&>())});

}  // namespace simulator::operators

// Exports aclnn<name>GetWorkspaceSize and aclnn<name> for an implementation: a function or a lambda without
// captures. Their parameters depend on the implementation, which C linkage cannot express, so the two symbols
// are indirect functions that the dynamic linker binds to Operator<>.
#define ACLNN(name, ...)                                                                                   \
  namespace simulator::operators::name##Operator {                                                         \
    namespace {                                                                                            \
    constexpr auto kImplementation = __VA_ARGS__;                                                          \
    constexpr char kName[] = "aclnn" #name;                                                                \
    using Self = Operator<kImplementation, kName, SignatureOf<decltype(kImplementation)>>;                 \
    }                                                                                                      \
    extern "C" decltype(&Self::GetWorkspaceSize) resolve_##name##_1() { return &Self::GetWorkspaceSize; }  \
    extern "C" decltype(&Launch) resolve_##name##_2() { return Self::kLaunch; }                            \
    extern "C" __attribute__((                                                                             \
        visibility("default"),                                                                             \
        ifunc("resolve_" #name "_1"))) decltype(Self::GetWorkspaceSize) aclnn##name##GetWorkspaceSize;     \
    extern "C"                                                                                             \
        __attribute__((visibility("default"), ifunc("resolve_" #name "_2"))) decltype(Launch) aclnn##name; \
  }                                                                                                        \
  static_assert(true)
