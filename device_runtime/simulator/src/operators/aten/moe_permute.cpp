// Ordering tokens by the experts that they were given to, and back.
#include "binding.h"
#include "checks.h"
#include "dtypes.h"
#include "store.h"

namespace simulator::operators {
namespace {

// Rows by index; rows beyond the end, those of dropped tokens, are 0.
at::Tensor RowsAt(Tensor rows, Tensor index) {
  const auto beyond = index.to(at::kLong).ge(rows.size(0));
  const auto found = rows.index_select(0, index.to(at::kLong).masked_fill(beyond, 0));
  return found.masked_fill(beyond.view({-1, 1}), 0);
}

Plan TokenPermute(Tensor tokens, Tensor indices, int64_t outTokens, bool padded, Out permuted,
                  Out sortedIndices) {
  TORCH_CHECK_VALUE(tokens.dim() == 2 && (indices.dim() == 1 || indices.dim() == 2), "tokens of shape ",
                    tokens.sizes(), " and indices of shape ", indices.sizes());
  CheckIndex("indices", indices);
  TORCH_CHECK_VALUE(indices.size(0) == tokens.size(0), indices.size(0), " rows of indices for ",
                    tokens.size(0), " tokens");
  const auto choices = indices.dim() == 2 ? indices.size(1) : 1;
  CheckShape(permuted, {permuted.size(0), tokens.size(1)});
  TORCH_CHECK_VALUE(padded || permuted.size(0) == std::min(outTokens, indices.numel()), "the result has ",
                    permuted.size(0), " tokens, not ", outTokens);
  return [=]() mutable {
    const auto flat = indices.flatten();
    if (padded) {
      Store(permuted, tokens.index_select(0, flat.to(at::kLong)));
      return Store(sortedIndices, flat.view(sortedIndices.sizes()));
    }
    const auto order = at::argsort(flat, true, -1, false);
    Store(permuted, tokens.index_select(0, order.narrow(0, 0, permuted.size(0)).floor_divide(choices)));
    Store(sortedIndices, at::argsort(order));
  };
}

Plan TokenPermuteGrad(Tensor gradOutput, Tensor sortedIndices, int64_t choices, bool padded, Out gradTokens) {
  TORCH_CHECK_VALUE(!padded, "the padded mode is not implemented");
  TORCH_CHECK_VALUE(choices > 0 && sortedIndices.numel() % choices == 0, sortedIndices.numel(),
                    " indices do not divide by ", choices);
  CheckIndex("indices", sortedIndices);
  CheckShape(gradTokens, {sortedIndices.numel() / choices, gradOutput.size(1)});
  return [=]() mutable {
    Store(gradTokens, RowsAt(Widened(gradOutput), sortedIndices).unflatten(0, {-1, choices}).sum(1));
  };
}

Plan TokenUnpermute(Tensor permuted, Tensor sortedIndices, OptionalTensor probabilities, bool padded,
                    Out tokens) {
  TORCH_CHECK_VALUE(!padded, "the padded mode is not implemented");
  const auto choices = probabilities ? probabilities->size(-1) : 1;
  TORCH_CHECK_VALUE(choices > 0 && sortedIndices.numel() % choices == 0, sortedIndices.numel(),
                    " indices do not divide by ", choices);
  CheckIndex("indices", sortedIndices);
  TORCH_CHECK_VALUE(permuted.dim() == 2, "permuted tokens of shape ", permuted.sizes());
  TORCH_CHECK_VALUE(!probabilities || probabilities->numel() == sortedIndices.numel(),
                    "probabilities of shape ", probabilities->sizes(), " for ", sortedIndices.numel(),
                    " indices");
  CheckShape(tokens, {sortedIndices.numel() / choices, permuted.size(1)});
  return [=]() mutable {
    auto rows = RowsAt(Widened(permuted), sortedIndices);
    if (probabilities) rows = rows * Widened(*probabilities).reshape({-1, 1});
    Store(tokens, rows.unflatten(0, {-1, choices}).sum(1));
  };
}

// Each place of `index` is written once; places beyond the end belong to dropped tokens.
at::Tensor ScatteredRows(Tensor rows, Tensor index, int64_t count) {
  const auto places = index.to(at::kLong);
  const auto kept = places.lt(count).nonzero().flatten();
  return at::zeros({count, rows.size(1)}, rows.options())
      .index_copy(0, places.index_select(0, kept), rows.index_select(0, kept));
}

Plan TokenUnpermuteGrad(OptionalTensor permuted, Tensor gradTokens, Tensor sortedIndices,
                        OptionalTensor probabilities, bool padded, Out gradPermuted,
                        OptionalOut gradProbabilities) {
  TORCH_CHECK_VALUE(!padded, "the padded mode is not implemented");
  TORCH_CHECK_VALUE(permuted || !probabilities, "the gradient of probabilities asks for the permuted tokens");
  CheckIndex("indices", sortedIndices);
  TORCH_CHECK_VALUE(
      gradTokens.dim() == 2 && gradPermuted.dim() == 2 && gradTokens.size(1) == gradPermuted.size(1),
      "gradients of shapes ", gradTokens.sizes(), " and ", gradPermuted.sizes());
  return [=]() mutable {
    const auto grad = Widened(gradTokens);
    const auto choices = probabilities ? probabilities->size(-1) : 1;
    const auto each = grad.repeat_interleave(choices, 0);
    const auto weighted = probabilities ? each * Widened(*probabilities).reshape({-1, 1}) : each;
    Store(gradPermuted, ScatteredRows(weighted, sortedIndices, gradPermuted.size(0)));
    if (!probabilities) return;
    const auto products = (each * RowsAt(Widened(*permuted), sortedIndices)).sum(-1);
    Store(gradProbabilities, products.view(probabilities->sizes()));
  };
}

// The order that a routing map, tokens by experts, gives: expert by expert, in each the tokens in order. In
// the padded mode each expert has the same number of places, filled up with tokens that it was not given.
struct Routed {
  at::Tensor tokens, experts;  // of each place
};

Routed ByExpert(Tensor map) {
  const auto places = map.to(at::kBool).t().nonzero();
  return {places.select(1, 1), places.select(1, 0)};
}

Routed PaddedByExpert(Tensor map, int64_t places) {
  const auto experts = map.size(1), capacity = places / experts;
  const auto order = at::argsort(map.to(at::kBool).t().to(at::kChar), true, -1, true).narrow(1, 0, capacity);
  return {order.flatten(), at::arange(experts).repeat_interleave(capacity)};
}

void CheckMap(Tensor tokens, Tensor map) {
  TORCH_CHECK_VALUE(tokens.dim() == 2 && map.dim() == 2 && map.size(0) == tokens.size(0), "tokens of shape ",
                    tokens.sizes(), " and a routing map of shape ", map.sizes());
  CheckDtype("the routing map", map, {at::kBool, at::kChar});
}

Plan PermuteByMap(Tensor tokens, Tensor map, OptionalTensor probabilities, int64_t outTokens, bool padded,
                  Out permuted, OptionalOut permutedProbabilities, Out sortedIndices) {
  CheckMap(tokens, map);
  CheckShape(permuted, {permuted.size(0), tokens.size(1)});
  TORCH_CHECK_VALUE(!padded || (map.size(1) > 0 && outTokens / map.size(1) <= tokens.size(0)), outTokens,
                    " places are more than ", map.size(1), " experts have tokens for");
  if (probabilities) CheckSameShape(map, *probabilities);
  return [=]() mutable {
    const auto routed = padded ? PaddedByExpert(map, outTokens) : ByExpert(map);
    Store(permuted, tokens.index_select(0, routed.tokens));
    if (probabilities) Store(permutedProbabilities, probabilities->index({routed.tokens, routed.experts}));
    Store(sortedIndices, padded ? routed.tokens : at::argsort(routed.tokens, true, -1, false));
  };
}

// Without padding sortedIndices says, token by token, where each of its rows was put.
at::Tensor TokensOfRows(Tensor map) { return map.to(at::kBool).nonzero().select(1, 0); }

Plan PermuteByMapGrad(Tensor gradOutput, OptionalTensor gradProbabilities, Tensor sortedIndices,
                      OptionalTensor map, int64_t experts, int64_t tokenCount, bool padded, Out gradTokens,
                      OptionalOut gradProbabilitiesOut) {
  TORCH_CHECK_VALUE(map || padded, "a routing map is needed");
  CheckIndex("indices", sortedIndices);
  TORCH_CHECK_VALUE(gradOutput.dim() == 2, "a gradient of shape ", gradOutput.sizes());
  CheckShape(gradTokens, {tokenCount, gradOutput.size(1)});
  return [=]() mutable {
    const auto grad = Widened(gradOutput);
    const auto index = sortedIndices.to(at::kLong);
    const auto sums = at::zeros({tokenCount, grad.size(1)}, grad.options());
    Store(gradTokens, padded ? sums.index_add(0, index, grad)
                             : sums.index_add(0, TokensOfRows(*map), grad.index_select(0, index)));
    if (!gradProbabilities || !gradProbabilitiesOut) return;
    const auto routed = padded ? Routed{index, at::arange(experts).repeat_interleave(index.numel() / experts)}
                               : ByExpert(*map);
    const auto empty = at::zeros({tokenCount, experts}, gradProbabilities->options());
    Store(gradProbabilitiesOut, empty.index_put({routed.tokens, routed.experts}, *gradProbabilities, true));
  };
}

Plan UnpermuteByMap(Tensor permuted, Tensor sortedIndices, OptionalTensor map, OptionalTensor probabilities,
                    bool padded, Sizes restored, Out tokens, OptionalOut outIndex, OptionalOut tokenIndex,
                    OptionalOut permutedProbabilities) {
  TORCH_CHECK_VALUE(map || padded, "a routing map is needed");
  CheckShape(tokens, restored);
  CheckIndex("indices", sortedIndices);
  TORCH_CHECK_VALUE(permuted.dim() == 2 && restored.size() == 2 && permuted.size(1) == restored[1],
                    "permuted tokens of shape ", permuted.sizes(), " cannot be restored to ", restored);
  return [=]() mutable {
    const auto index = sortedIndices.to(at::kLong);
    auto rows = Widened(permuted);
    if (probabilities) {
      const auto experts = probabilities->size(1);
      const auto routed = padded
                              ? Routed{index, at::arange(experts).repeat_interleave(index.numel() / experts)}
                              : ByExpert(*map);
      const auto own = probabilities->index({routed.tokens, routed.experts});
      Store(permutedProbabilities, own);
      rows = rows * Widened(own).unsqueeze(-1);
    }
    const auto sums = at::zeros(restored, rows.options());
    if (!padded) return Store(tokens, sums.index_add(0, TokensOfRows(*map), rows.index_select(0, index)));
    const auto sorted = at::sort(index, true, -1, false);
    Store(tokens, sums.index_add(0, index, rows));
    Store(tokenIndex, std::get<0>(sorted));
    Store(outIndex, std::get<1>(sorted));
  };
}

Plan UnpermuteByMapGrad(Tensor gradTokens, Tensor outIndex, Tensor tokenIndex, OptionalTensor map,
                        OptionalTensor permuted, OptionalTensor probabilities, bool padded,
                        Sizes /*restored*/, Out gradPermuted, OptionalOut gradProbabilities) {
  TORCH_CHECK_VALUE(map || padded, "a routing map is needed");
  TORCH_CHECK_VALUE(!probabilities || permuted, "the permuted tokens are needed");
  TORCH_CHECK_VALUE(
      gradTokens.dim() == 2 && gradPermuted.dim() == 2 && gradTokens.size(1) == gradPermuted.size(1),
      "gradients of shapes ", gradTokens.sizes(), " and ", gradPermuted.sizes());
  return [=]() mutable {
    const auto places = outIndex.to(at::kLong);
    const auto tokens = padded ? tokenIndex.to(at::kLong) : TokensOfRows(*map);
    const auto each = Widened(gradTokens).index_select(0, tokens);  // in the order of `places`
    if (!probabilities) return Store(gradPermuted, ScatteredRows(each, places, gradPermuted.size(0)));
    const auto experts = probabilities->size(1);
    const auto chosen = padded ? places.floor_divide(std::max<int64_t>(places.numel() / experts, 1))
                               : map->to(at::kBool).nonzero().select(1, 1);
    const auto own = Widened(*probabilities).index({tokens, chosen}).unsqueeze(-1);
    Store(gradPermuted, ScatteredRows(each * own, places, gradPermuted.size(0)));
    const auto products = (each * Widened(*permuted).index_select(0, places)).sum(-1);
    const auto empty = at::zeros(probabilities->sizes(), products.options());
    Store(gradProbabilities, empty.index_put({tokens, chosen}, products, true));
  };
}

}  // namespace
}  // namespace simulator::operators

ACLNN(MoeTokenPermute, Planning(TokenPermute));
ACLNN(MoeTokenPermuteGrad, Planning(TokenPermuteGrad));
ACLNN(MoeTokenUnpermute, Planning([](Tensor permuted, Tensor sortedIndices, OptionalTensor probabilities,
                                     bool padded, Sizes /*restored*/, Out tokens) {
        return TokenUnpermute(permuted, sortedIndices, probabilities, padded, tokens);
      }));
ACLNN(MoeTokenUnpermuteGrad, Planning([](OptionalTensor permuted, Tensor gradTokens, Tensor sortedIndices,
                                         OptionalTensor probabilities, bool padded, Sizes /*restored*/,
                                         Out gradPermuted, OptionalOut gradProbabilities) {
        return TokenUnpermuteGrad(permuted, gradTokens, sortedIndices, probabilities, padded, gradPermuted,
                                  gradProbabilities);
      }));
ACLNN(MoeTokenPermuteWithRoutingMap, Planning(PermuteByMap));
ACLNN(MoeTokenPermuteWithRoutingMapGrad, Planning(PermuteByMapGrad));
ACLNN(MoeTokenUnpermuteWithRoutingMap, Planning(UnpermuteByMap));
// No public header declares this one: its parameters are those of the operator definition, and what torch_npu
// passes.
ACLNN(MoeTokenUnpermuteWithRoutingMapGrad, Planning(UnpermuteByMapGrad));
