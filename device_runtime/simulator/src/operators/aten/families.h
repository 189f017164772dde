#pragma once

#include <tuple>
#include <type_traits>

#include "checks.h"
#include "rehearsal.h"

// Families of operators whose output shapes follow from their parameters in one way.
namespace simulator::operators {

// What an operator computes, and what phase 1 checks before that; nullptr where there is nothing to check.
template <typename... Parameters>
struct Implementation {
  using Function = void (*)(Parameters...);
  using Arguments = std::tuple<typename Argument<Parameters>::Held...>;

  Function check;
  Function compute;
  void (*rehearse)(Function compute, const Arguments& arguments) = nullptr;
};

inline void Extend(std::vector<int64_t>& shape, Tensor input) {
  shape = at::infer_size(shape, input.sizes());
}

inline void Extend(std::vector<int64_t>& shape, OptionalTensor input) {
  if (input) Extend(shape, *input);
}

template <typename Parameter>
void ExtendByInput(std::vector<int64_t>& shape, Parameter given) {
  if constexpr (std::is_same_v<Parameter, Tensor> || std::is_same_v<Parameter, OptionalTensor>)
    Extend(shape, given);
}

template <typename Parameter>
void CheckOutput(Parameter given, at::IntArrayRef shape) {
  if constexpr (std::is_same_v<Parameter, Out>) CheckShape(given, shape);
}

// Each output has the shape that the inputs broadcast to. An operator that works in place has its output
// first, which is an input as well.
template <typename First, typename... Others>
void CheckBroadcasting(First first, Others... others) {
  std::vector<int64_t> shape;
  ExtendByInput<First>(shape, first);
  if constexpr (std::is_same_v<First, Out>) Extend(shape, first);
  (ExtendByInput<Others>(shape, others), ...);
  CheckOutput<First>(first, shape);
  (CheckOutput<Others>(others, shape), ...);
}

template <typename... Parameters>
constexpr Implementation<Parameters...> BroadcastingOf(void (*compute)(Parameters...)) {
  return {&CheckBroadcasting<Parameters...>, compute, &Rehearse<Parameters...>};
}

template <typename Compute>
constexpr auto Broadcasting(Compute compute) {
  return BroadcastingOf(+compute);
}

// The outputs of a reduction lack the dimensions it is over, or have them with size one.
template <typename... Rest>
void CheckReduction(Tensor self, Sizes dims, bool keepDim, Rest... rest) {
  const auto shape = ReducedShape(self, dims, keepDim);
  (CheckOutput<Rest>(rest, shape), ...);
}

template <typename... Rest>
void CheckReductionOfOne(Tensor self, int64_t dim, bool keepDim, Rest... rest) {
  const auto shape = ReducedShape(self, dim, keepDim);
  (CheckOutput<Rest>(rest, shape), ...);
}

template <typename... Rest>
constexpr Implementation<Tensor, Sizes, bool, Rest...> ReductionOf(void (*compute)(Tensor, Sizes, bool,
                                                                                   Rest...)) {
  return {&CheckReduction<Rest...>, compute, &Rehearse<Tensor, Sizes, bool, Rest...>};
}

template <typename... Rest>
constexpr Implementation<Tensor, int64_t, bool, Rest...> ReductionOf(void (*compute)(Tensor, int64_t, bool,
                                                                                     Rest...)) {
  return {&CheckReductionOfOne<Rest...>, compute, &Rehearse<Tensor, int64_t, bool, Rest...>};
}

// With a correction of the degrees of freedom. It is not rehearsed, as PyTorch warns of a single element.
template <typename... Rest>
void CheckStatistic(Tensor self, Sizes dims, int64_t /*correction*/, bool keepDim, Rest... rest) {
  CheckReduction<Rest...>(self, dims, keepDim, rest...);
}

template <typename... Rest>
constexpr Implementation<Tensor, Sizes, int64_t, bool, Rest...> ReductionOf(void (*compute)(Tensor, Sizes,
                                                                                            int64_t, bool,
                                                                                            Rest...)) {
  return {&CheckStatistic<Rest...>, compute};
}

template <typename Compute>
constexpr auto Reduction(Compute compute) {
  return ReductionOf(+compute);
}

}  // namespace simulator::operators
