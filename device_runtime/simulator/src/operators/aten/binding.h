#pragma once

#include <functional>
#include <tuple>
#include <type_traits>
#include <utility>

#include "arguments.h"
#include "launch.h"

namespace simulator::operators {

template <typename Held>
Held OnMeta(const Held& value) {
  return value;
}

inline at::Tensor OnMeta(const at::Tensor& tensor) { return WithoutData(tensor); }

inline std::optional<at::Tensor> OnMeta(const std::optional<at::Tensor>& tensor) {
  return tensor ? std::optional(WithoutData(*tensor)) : std::nullopt;
}

inline std::vector<at::Tensor> OnMeta(const std::vector<at::Tensor>& tensors) {
  std::vector<at::Tensor> result;
  for (const auto& tensor : tensors) result.push_back(WithoutData(tensor));
  return result;
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
      if constexpr (!kDynamic) CheckOnMeta([&] { Check(arguments); });
      *Required(workspaceSize) = 0;
      auto run = [held = std::move(arguments)]() mutable {
        return Run(kName, [&] { std::apply(kImplementation, held); });
      };
      *Required(executor) = new aclOpExecutor{kName, std::move(run)};
    });
  }

  static constexpr auto* kLaunch = kDynamic ? &LaunchAndWait : &Launch;

 private:
  // ATen's kernels check their arguments on tensors without data as they would on real ones.
  static void Check(const Arguments& given) { CheckEach(given, std::index_sequence_for<Parameters...>()); }

  template <size_t... kIndices>
  static void CheckEach(const Arguments& given, std::index_sequence<kIndices...>) {
    Arguments meta{OnMeta(std::get<kIndices>(given))...};
    std::apply(kImplementation, meta);
    (CheckUnchanged(std::get<kIndices>(given), std::get<kIndices>(meta)), ...);
  }
};

template <typename Implementation>
using SignatureOf = decltype(std::function{std::declval<Implementation>()});

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
