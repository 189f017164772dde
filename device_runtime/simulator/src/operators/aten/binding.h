#pragma once

#include <functional>
#include <tuple>
#include <type_traits>
#include <utility>

#include "arguments.h"
#include "families.h"
#include "launch.h"
#include "operands.h"

namespace simulator::operators {

template <typename... Parameters>
constexpr Implementation<Parameters...> Pair(void (*check)(Parameters...), void (*compute)(Parameters...)) {
  return {check, compute};
}

// An implementation with a check of its own. Both are functions or lambdas without captures, of the same
// parameters.
template <typename Check, typename Compute>
constexpr auto Checked(Check check, Compute compute) {
  return Pair(+check, +compute);
}

template <typename Compute>
constexpr auto Implement(Compute compute) {
  return Pair(decltype(+compute){nullptr}, +compute);
}

template <typename... Parameters>
constexpr auto Implement(Implementation<Parameters...> implementation) {
  return implementation;
}

// What an operator does on the stream. It owns copies of what it works on, may run more than once and writes
// through Store only.
using Plan = std::function<void()>;

// An implementation that checks its arguments in phase 1 and returns what remains to do: for operators whose
// options decide what is computed, so that each is read and refused in one place.
template <typename... Parameters>
struct Planned {
  Plan (*plan)(Parameters...);
};

template <typename... Parameters>
constexpr Planned<Parameters...> PlannedBy(Plan (*plan)(Parameters...)) {
  return {plan};
}

template <typename Function>
constexpr auto Planning(Function plan) {
  return PlannedBy(+plan);
}

template <typename... Parameters>
constexpr auto Implement(Planned<Parameters...> planned) {
  return planned;
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
  if (given && after) CheckUnchanged(*given, *after);
}

// Phase 1 and the run, the same for all operators of one signature.
template <typename... Parameters>
class Signature {
 public:
  static aclnnStatus GetWorkspaceSize(const char* name, const Implementation<Parameters...>& implementation,
                                      typename Argument<Parameters>::Abi... given, uint64_t* workspaceSize,
                                      aclOpExecutor** executor) {
    return Prepare(name, [&] {
      Arguments arguments{Argument<Parameters>::Hold(given)...};
      if (implementation.check != nullptr) std::apply(implementation.check, arguments);
      if (implementation.rehearse != nullptr) implementation.rehearse(implementation.compute, arguments);
      *Required(workspaceSize) = 0;
      auto run = [name, compute = implementation.compute, held = std::move(arguments)] {
        return Run(name, [&] { ComputeOn(compute, held, std::index_sequence_for<Parameters...>()); });
      };
      *Required(executor) = new aclOpExecutor{name, std::move(run)};
      if (SomebodyListens()) (AddOperand<Parameters>(given, (*executor)->operands), ...);
    });
  }

  static constexpr bool kDynamic = (std::is_same_v<Parameters, DynamicOut&> || ...);
  static constexpr auto* kLaunch = kDynamic ? &LaunchAndWait : &Launch;

 private:
  using Arguments = std::tuple<typename Argument<Parameters>::Held...>;

  template <size_t... kIndices>
  static void ComputeOn(void (*compute)(Parameters...), const Arguments& held,
                        std::index_sequence<kIndices...> /*indices*/) {
    Arguments arguments{ForOneRun(std::get<kIndices>(held))...};
    std::apply(compute, arguments);
    (CheckUnchanged(std::get<kIndices>(held), std::get<kIndices>(arguments)), ...);
  }
};

template <const auto& kImplementation, const char* kName, typename Type>
struct Operator;

// The two functions of one operator, their C signature deduced from the implementation's parameters.
template <const auto& kImplementation, const char* kName, typename... Parameters>
struct Operator<kImplementation, kName, const Implementation<Parameters...>> {
  static aclnnStatus GetWorkspaceSize(typename Argument<Parameters>::Abi... given, uint64_t* workspaceSize,
                                      aclOpExecutor** executor) {
    return Signature<Parameters...>::GetWorkspaceSize(kName, kImplementation, given..., workspaceSize,
                                                      executor);
  }

  static constexpr auto* kLaunch = Signature<Parameters...>::kLaunch;
};

template <const auto& kImplementation, const char* kName, typename... Parameters>
struct Operator<kImplementation, kName, const Planned<Parameters...>> {
  static aclnnStatus GetWorkspaceSize(typename Argument<Parameters>::Abi... given, uint64_t* workspaceSize,
                                      aclOpExecutor** executor) {
    return Prepare(kName, [&] {
      std::tuple<typename Argument<Parameters>::Held...> arguments{Argument<Parameters>::Hold(given)...};
      auto run = [body = std::apply(kImplementation.plan, arguments)] { return Run(kName, body); };
      *Required(workspaceSize) = 0;
      *Required(executor) = new aclOpExecutor{kName, std::move(run)};
      if (SomebodyListens()) (AddOperand<Parameters>(given, (*executor)->operands), ...);
    });
  }

  static constexpr auto* kLaunch = &Launch;
};

}  // namespace simulator::operators

// Exports aclnn<name>GetWorkspaceSize and aclnn<name> for an implementation: a function or a lambda without
// captures. Their parameters depend on the implementation, which C linkage cannot express, so the two symbols
// are indirect functions that the dynamic linker binds to Operator<>. It asks their resolvers before the
// library is relocated, which is sound as these only take the address of a hidden function: no relocation, no
// call, no data.
#define ACLNN(name, ...) ACL_OPERATOR(aclnn##name, __VA_ARGS__)

// The same for an operator whose name has another prefix.
#define ACL_OPERATOR(name, ...)                                                                            \
  namespace simulator::operators::name##Operator {                                                         \
    namespace {                                                                                            \
    constexpr auto kImplementation = Implement(__VA_ARGS__);                                               \
    constexpr char kName[] = #name;                                                                        \
    using Self = Operator<kImplementation, kName, decltype(kImplementation)>;                              \
    }                                                                                                      \
    extern "C" decltype(&Self::GetWorkspaceSize) resolve_##name##_1() { return &Self::GetWorkspaceSize; }  \
    extern "C" decltype(&Launch) resolve_##name##_2() { return Self::kLaunch; }                            \
    extern "C" __attribute__((                                                                             \
        visibility("default"),                                                                             \
        ifunc("resolve_" #name "_1"))) decltype(Self::GetWorkspaceSize) name##GetWorkspaceSize;            \
    extern "C" __attribute__((visibility("default"), ifunc("resolve_" #name "_2"))) decltype(Launch) name; \
  }                                                                                                        \
  static_assert(true)
