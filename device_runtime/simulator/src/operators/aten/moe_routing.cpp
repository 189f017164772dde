// Sending tokens to experts and adding up what comes back.
#include "binding.h"
#include "checks.h"
#include "dtypes.h"
#include "quantize.h"
#include "store.h"

namespace simulator::operators {
namespace {

// Token choices in the order of their experts: which choice stands at each place, and for which expert.
struct SortedChoices {
  at::Tensor choices, experts;
};

SortedChoices SortByExpert(Tensor experts) {
  const auto sorted = at::sort(experts.flatten().to(at::kLong), true, -1, false);
  return {std::get<1>(sorted), std::get<0>(sorted)};
}

at::Tensor InversePermutation(Tensor order) { return at::argsort(order); }

Plan InitRouting(Tensor x, Tensor rowIndex, Tensor experts, Out expandedX, Out expandedRowIndex,
                 Out expandedExperts) {
  TORCH_CHECK_VALUE(x.dim() == 2 && experts.dim() == 2 && experts.size(0) == x.size(0), "tokens of shape ",
                    x.sizes(), " and experts of shape ", experts.sizes());
  CheckIndex("experts", experts);
  CheckSameShape(experts, rowIndex);
  CheckShape(expandedX, {expandedX.size(0), x.size(1)});
  TORCH_CHECK_VALUE(expandedX.size(0) <= experts.numel(), expandedX.size(0), " rows for ", experts.numel(),
                    " choices");
  return [=]() mutable {
    const auto sorted = SortByExpert(experts);
    const auto sources = rowIndex.flatten().to(at::kLong).index_select(0, sorted.choices);
    const auto active = sources.narrow(0, 0, expandedX.size(0)).remainder(x.size(0));
    Store(expandedX, x.index_select(0, active));
    Store(expandedRowIndex, InversePermutation(sources).view(expandedRowIndex.sizes()));
    Store(expandedExperts, sorted.experts.view(expandedExperts.sizes()));
  };
}

enum class Counts { kNone, kEnds, kNumbers, kPairs };

// How many choices each expert of a range has; in pairs experts without any are left out.
at::Tensor CountsOf(Tensor experts, int64_t first, int64_t count, Counts kind, at::IntArrayRef shape) {
  const auto numbers = at::bincount(experts - first, {}, count);
  if (kind == Counts::kEnds) return numbers.cumsum(0);
  if (kind == Counts::kNumbers) return numbers;
  const auto used = numbers.nonzero().flatten();
  auto pairs = at::zeros(shape, numbers.options());
  pairs.narrow(0, 0, used.numel()).copy_(at::stack({used + first, numbers.index_select(0, used)}, 1));
  return pairs;
}

struct Routing {
  int64_t active;    // rows to expand at most; 0 or less for all
  int64_t capacity;  // places of each expert in the padded mode
  bool padded;
  int64_t firstExpert, endExpert;
};

// Which choice stands at each place of the expanded rows, -1 for none, and the place of each choice.
struct Places {
  at::Tensor choices, ofChoices;
  SortedChoices sorted;
  int64_t routed;  // choices of experts in the range
};

Places PlacesOf(Tensor experts, const Routing& routing) {
  const auto flat = experts.flatten().to(at::kLong);
  const auto outside = flat.lt(routing.firstExpert).logical_or(flat.ge(routing.endExpert));
  Places places;
  places.sorted = SortByExpert(flat.masked_fill(outside, std::numeric_limits<int64_t>::max()));
  places.routed = flat.numel() - outside.sum().item<int64_t>();
  const auto order = places.sorted.choices.narrow(0, 0, places.routed);
  const auto own = places.sorted.experts.narrow(0, 0, places.routed) - routing.firstExpert;
  auto target = at::arange(places.routed);
  places.ofChoices = at::full({flat.numel()}, -1, flat.options());
  if (!routing.padded) {
    places.choices = order;
    places.ofChoices.index_put_({order}, target);
    return places;
  }
  const auto count = routing.endExpert - routing.firstExpert;
  const auto counts = at::bincount(own, {}, count);
  const auto starts = counts.cumsum(0) - counts;
  const auto rank = target - starts.index_select(0, own);
  const auto kept = rank.lt(routing.capacity).nonzero().flatten();
  target = (own * routing.capacity + rank).index_select(0, kept);
  const auto keptChoices = order.index_select(0, kept);
  places.choices = at::full({count * routing.capacity}, -1, flat.options()).index_put({target}, keptChoices);
  places.ofChoices.index_put_({keptChoices}, target);
  return places;
}

// The rows of the tokens whose choices stand at the places; 0 where there is none.
at::Tensor ExpandedRows(Tensor x, Tensor choices, int64_t perToken) {
  const auto rows = x.index_select(0, choices.clamp_min(0).floor_divide(perToken));
  return rows.masked_fill(choices.lt(0).view({-1, 1}), 0);
}

int64_t ActiveRows(const Places& places, const Routing& routing, int64_t room) {
  const auto all = places.choices.numel();
  const auto active = routing.padded || routing.active <= 0 ? all : std::min(all, routing.active);
  return std::min(active, room);
}

void CheckRouting(Tensor x, Tensor experts, const Routing& routing) {
  TORCH_CHECK_VALUE(x.dim() == 2 && experts.dim() == 2 && experts.size(0) == x.size(0), "tokens of shape ",
                    x.sizes(), " and experts of shape ", experts.sizes());
  CheckIndex("experts", experts);
  TORCH_CHECK_VALUE(routing.firstExpert >= 0 && routing.firstExpert < routing.endExpert, "the experts from ",
                    routing.firstExpert, " to ", routing.endExpert);
  TORCH_CHECK_VALUE(!routing.padded || routing.capacity > 0, "the padded mode asks for a capacity");
}

Plan InitRoutingV2(Tensor x, Tensor experts, Routing routing, Counts counts, bool countsBefore, Out expandedX,
                   Out rowIndex, OptionalOut tokenCounts, OptionalOut tokenCountsBefore) {
  CheckRouting(x, experts, routing);
  return [=]() mutable {
    const auto places = PlacesOf(experts, routing);
    auto rows = expandedX.dim() == 3 ? expandedX.flatten(0, 1) : expandedX;
    const auto active = ActiveRows(places, routing, rows.size(0));
    auto target = rows.narrow(0, 0, active);
    Store(target, ExpandedRows(x, places.choices.narrow(0, 0, active), experts.size(1)));
    Store(rowIndex, places.ofChoices.view(rowIndex.sizes()));
    const auto own = places.sorted.experts.narrow(0, 0, places.routed);
    if (counts != Counts::kNone && !routing.padded && tokenCounts) {
      Store(tokenCounts, CountsOf(own, 0, routing.endExpert, counts, tokenCounts->sizes()));
    }
    if (countsBefore && routing.padded && tokenCountsBefore) {
      Store(tokenCountsBefore,
            CountsOf(own, 0, routing.endExpert, Counts::kNumbers, tokenCountsBefore->sizes()));
    }
  };
}

enum QuantMode : int64_t { kUnquantised = -1, kStatic = 0, kDynamic = 1 };

struct RoutingQuantisation {
  std::optional<at::Tensor> scale, offset;
  int64_t mode;
};

// Smoothing scales are the same for all, or a row an expert.
at::Tensor SmoothedRows(Tensor rows, const RoutingQuantisation& quantisation, Tensor experts) {
  if (!quantisation.scale) return rows;
  const auto scale = Widened(*quantisation.scale);
  return scale.size(0) == 1 ? rows * scale : rows * scale.index_select(0, experts);
}

// The expert of each place, counted from the first of the range.
at::Tensor ExpertsOfPlaces(const Places& places, const Routing& routing, int64_t active) {
  if (routing.padded) return at::arange(active).floor_divide(routing.capacity);
  return places.sorted.experts.narrow(0, 0, active) - routing.firstExpert;
}

void StoreExpanded(Out rows, OptionalOut scales, Tensor expanded, const RoutingQuantisation& quantisation,
                   const Places& places, const Routing& routing, int64_t perToken) {
  const auto active = expanded.size(0);
  auto target = rows.narrow(0, 0, active);
  const auto choices = places.choices.narrow(0, 0, active);
  if (quantisation.mode == kUnquantised) {
    Store(target, expanded);
    if (!quantisation.scale || !scales) return;
    auto own = scales->narrow(0, 0, active);
    return Store(own, ExpandedRows(quantisation.scale->view({-1, 1}), choices, perToken).flatten());
  }
  const auto wide = Widened(expanded);
  if (quantisation.mode == kStatic) {
    return StoreQuantised(target, wide * Widened(*quantisation.scale) + Widened(*quantisation.offset));
  }
  const auto experts = ExpertsOfPlaces(places, routing, active);
  const auto quantised =
      QuantiseRows(SmoothedRows(wide, quantisation, experts), RangeOf(rows.scalar_type()).greatest);
  StoreQuantised(target, quantised.values);
  if (scales) scales->flatten().narrow(0, 0, active).copy_(quantised.scale);
}

Plan InitRoutingV3(Tensor x, Tensor experts, RoutingQuantisation quantisation, Routing routing, Counts counts,
                   bool indexOfSources, Out expandedX, Out rowIndex, OptionalOut tokenCounts,
                   OptionalOut expandedScale) {
  CheckRouting(x, experts, routing);
  TORCH_CHECK_VALUE(quantisation.mode >= kUnquantised && quantisation.mode <= kDynamic,
                    "the quantisation mode ", quantisation.mode, " is not implemented");
  TORCH_CHECK_VALUE(quantisation.mode != kStatic || (quantisation.scale && quantisation.offset),
                    "the static quantisation asks for a scale and an offset");
  TORCH_CHECK_VALUE(!indexOfSources || !routing.padded,
                    "a row index of sources in the padded mode is not implemented");
  return [=]() mutable {
    const auto places = PlacesOf(experts, routing);
    auto rows = expandedX.dim() == 3 ? expandedX.flatten(0, 1) : expandedX;
    const auto active = ActiveRows(places, routing, rows.size(0));
    const auto expanded = ExpandedRows(x, places.choices.narrow(0, 0, active), experts.size(1));
    StoreExpanded(rows, expandedScale, expanded, quantisation, places, routing, experts.size(1));
    Store(rowIndex, (indexOfSources ? places.sorted.choices : places.ofChoices).view(rowIndex.sizes()));
    if (counts == Counts::kNone || !tokenCounts) return;
    const auto own = places.sorted.experts.narrow(0, 0, places.routed);
    Store(tokenCounts, CountsOf(own, routing.firstExpert, routing.endExpert - routing.firstExpert, counts,
                                tokenCounts->sizes()));
  };
}

// How expandedRowIdx numbers the choices: column by column or row by row. Dropped choices are -1 in the other
// two modes.
bool RowByRow(int64_t mode) {
  TORCH_CHECK_VALUE(mode >= 0 && mode <= 3, "the drop and pad mode ", mode, " is not known");
  return mode >= 2;
}

Plan FinalizeRouting(Tensor expandedX, Tensor rowIndex, OptionalTensor skip1, OptionalTensor skip2,
                     OptionalTensor bias, OptionalTensor scales, OptionalTensor experts, int64_t mode,
                     Out out) {
  const bool rowByRow = RowByRow(mode);
  const auto perToken = rowIndex.numel() / std::max<int64_t>(out.size(0), 1);
  TORCH_CHECK_VALUE(out.dim() == 2 && rowIndex.numel() == perToken * out.size(0), rowIndex.numel(),
                    " rows do not add up to a result of shape ", out.sizes());
  CheckFloat("expandedX", expandedX);
  CheckIndex("the row index", rowIndex);
  TORCH_CHECK_VALUE(expandedX.size(-1) == out.size(1), "rows of ", expandedX.size(-1), " features for ",
                    out.size(1));
  for (const auto* skip : {&skip1, &skip2}) {
    if (*skip) CheckSameShape(out, **skip);
  }
  TORCH_CHECK_VALUE(!bias || experts, "a bias asks for the experts");
  return [=]() mutable {
    const auto features = expandedX.size(-1);
    const auto index = rowIndex.flatten().to(at::kLong);
    const auto ordered = rowByRow ? index : index.view({perToken, -1}).t().reshape(-1);
    auto rows = ExpandedRows(Widened(expandedX).reshape({-1, features}), ordered, 1);
    if (bias) rows = rows + Widened(*bias).index_select(0, experts->flatten().to(at::kLong));
    if (scales) rows = rows * Widened(*scales).reshape({-1, 1});
    auto result = rows.view({-1, perToken, features}).sum(1);
    if (skip1) result = result + Widened(*skip1);
    if (skip2) result = result + Widened(*skip2);
    Store(out, result);
  };
}

// Rows of each rank and expert, ordered by rank, are ordered by expert.
Plan ReRouting(Tensor tokens, Tensor countsByRank, OptionalTensor scales, int64_t countType,
               int64_t indexType, Out permuted, OptionalOut permutedScales, OptionalOut permutedIndex,
               OptionalOut expertCounts) {
  TORCH_CHECK_VALUE(countsByRank.dim() == 2 && tokens.dim() == 2, "tokens of shape ", tokens.sizes(),
                    " and counts of shape ", countsByRank.sizes());
  CheckIndex("the counts", countsByRank);
  CheckSameShape(tokens, permuted);
  TORCH_CHECK_VALUE(countType == 0 || countType == 1, "the count type ", countType, " is not known");
  TORCH_CHECK_VALUE(indexType == 0 || indexType == 1, "the index type ", indexType, " is not known");
  return [=]() mutable {
    const auto counts = countsByRank.to(at::kLong);
    const auto used = counts.sum().item<int64_t>();
    TORCH_CHECK_INDEX(used <= tokens.size(0), used, " tokens are counted, ", tokens.size(0), " given");
    const auto expertOfRow =
        at::arange(counts.size(1)).repeat(counts.size(0)).repeat_interleave(counts.flatten());
    const auto order = at::argsort(expertOfRow, true, -1, false);
    const auto write = [&](Tensor out, Tensor values) { out.narrow(0, 0, used).copy_(values); };
    write(permuted, tokens.index_select(0, order));
    if (scales && permutedScales) write(*permutedScales, scales->index_select(0, order));
    if (permutedIndex) write(*permutedIndex, indexType == 0 ? order : InversePermutation(order));
    const auto perExpert = counts.sum(0);
    Store(expertCounts, countType == 1 ? perExpert : perExpert.cumsum(0));
  };
}

Counts CountsNumbered(int64_t number, bool wanted) {
  constexpr Counts kKinds[] = {Counts::kEnds, Counts::kNumbers, Counts::kPairs};
  TORCH_CHECK_VALUE(number >= 0 && number <= 2, "the count type ", number, " is not known");
  return wanted ? kKinds[number] : Counts::kNone;
}

Counts CountsFlagged(int64_t flag) {
  TORCH_CHECK_VALUE(flag >= 0 && flag <= 2, "the count flag ", flag, " is not known");
  return flag == 0 ? Counts::kNone : flag == 1 ? Counts::kEnds : Counts::kNumbers;
}

}  // namespace
}  // namespace simulator::operators

// Where no public header declares an operator, its parameters are those of the operator definition, and what
// torch_npu passes.
ACLNN(MoeInitRouting,
      Planning([](Tensor x, Tensor rowIndex, Tensor experts, int64_t /*activeNum, told by the result*/,
                  Out expandedX, Out expandedRowIndex, Out expandedExperts) {
        return InitRouting(x, rowIndex, experts, expandedX, expandedRowIndex, expandedExperts);
      }));
ACLNN(MoeInitRoutingV2,
      Planning([](Tensor x, Tensor experts, int64_t active, int64_t capacity, int64_t expertCount,
                  int64_t dropPadMode, int64_t countFlag, bool countsBefore, Out expandedX, Out rowIndex,
                  OptionalOut tokenCounts, OptionalOut tokenCountsBefore) {
        const auto end = expertCount > 0 ? expertCount : std::numeric_limits<int64_t>::max();
        return InitRoutingV2(x, experts, {active, capacity, dropPadMode == 1, 0, end},
                             CountsFlagged(countFlag), countsBefore, expandedX, rowIndex, tokenCounts,
                             tokenCountsBefore);
      }));
ACLNN(MoeInitRoutingV3,
      Planning([](Tensor x, Tensor experts, OptionalTensor scale, OptionalTensor offset, int64_t active,
                  int64_t capacity, int64_t expertCount, int64_t dropPadMode, int64_t countType,
                  bool wantsCounts, int64_t quantMode, Sizes range, int64_t rowIndexType, Out expandedX,
                  Out rowIndex, OptionalOut tokenCounts, OptionalOut expandedScale) {
        const auto first = range.size() == 2 ? range[0] : 0, end = range.size() == 2 ? range[1] : expertCount;
        return InitRoutingV3(x, experts, {scale, offset, quantMode},
                             {active, capacity, dropPadMode == 1, first, end},
                             CountsNumbered(countType, wantsCounts), rowIndexType == 1, expandedX, rowIndex,
                             tokenCounts, expandedScale);
      }));
ACLNN(MoeInitRoutingQuantV2,
      Planning([](Tensor x, Tensor experts, OptionalTensor scale, OptionalTensor offset, int64_t active,
                  int64_t capacity, int64_t expertCount, int64_t dropPadMode, int64_t countFlag,
                  bool countsBefore, int64_t quantMode, Out expandedX, Out rowIndex, OptionalOut tokenCounts,
                  OptionalOut tokenCountsBefore, OptionalOut expandedScale) {
        TORCH_CHECK_VALUE(quantMode == kStatic || quantMode == kDynamic, "the quantisation mode ", quantMode,
                          " is not known");
        const bool padded = dropPadMode == 1;
        const auto route =
            InitRoutingV3(x, experts, {scale, offset, quantMode}, {active, capacity, padded, 0, expertCount},
                          padded ? Counts::kNone : CountsFlagged(countFlag), false, expandedX, rowIndex,
                          tokenCounts, expandedScale);
        if (!padded || !countsBefore) return route;
        return Plan([=]() mutable {
          route();
          Store(tokenCountsBefore, at::bincount(experts.flatten(), {}, expertCount));
        });
      }));
ACLNN(MoeFinalizeRouting,
      Planning([](Tensor expandedX, OptionalTensor skip1, OptionalTensor skip2, OptionalTensor bias,
                  OptionalTensor scales, Tensor rowIndex, OptionalTensor experts, Out out) {
        return FinalizeRouting(expandedX, rowIndex, skip1, skip2, bias, scales, experts, 0, out);
      }));
ACLNN(MoeFinalizeRoutingV2, Planning(FinalizeRouting));
// No public header declares this one: its parameters are what torch_npu passes, whose tensors and arrays for
// experts of other kinds are always nullptr.
ACLNN(MoeFinalizeRoutingV4,
      Planning([](Tensor expandedX, Tensor rowIndex, OptionalTensor skip1, OptionalTensor skip2,
                  OptionalTensor bias, OptionalTensor scales, OptionalTensor experts, Absent /*x*/,
                  Absent /*alpha1*/, Absent /*alpha2*/, Absent /*constant*/, int64_t mode, Sizes zeroExperts,
                  Sizes copyExperts, Sizes constantExperts, int64_t perToken, Out out) {
        TORCH_CHECK_VALUE(zeroExperts.empty() && copyExperts.empty() && constantExperts.empty(),
                          "experts of other kinds are not implemented");
        TORCH_CHECK_VALUE(scales || perToken < 1 || rowIndex.numel() == perToken * out.size(0),
                          rowIndex.numel(), " rows, ", perToken,
                          " a token, do not add up to a result of shape ", out.sizes());
        return FinalizeRouting(expandedX, rowIndex, skip1, skip2, bias, scales, experts, mode, out);
      }));
ACLNN(MoeComputeExpertTokens, Planning([](Tensor sortedExperts, int64_t experts, Out out) {
        CheckIndex("experts", sortedExperts);
        CheckShape(out, {experts});
        return Plan([=]() mutable {
          Store(out, at::searchsorted(sortedExperts.contiguous(),
                                      at::arange(experts, sortedExperts.options()), false, true));
        });
      }));
ACLNN(MoeReRouting, Planning(ReRouting));
