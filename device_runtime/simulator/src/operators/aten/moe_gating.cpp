// Choosing experts: the best of each token's scores.
#include "binding.h"
#include "checks.h"
#include "dtypes.h"
#include "store.h"

namespace simulator::operators {
namespace {

// The k largest of each row; of equal ones the first.
at::Tensor LargestOfRows(Tensor values, int64_t k) {
  return std::get<1>(at::sort(values, true, -1, true)).narrow(-1, 0, k);
}

void CheckChoice(Tensor x, int64_t k, Tensor y, Tensor experts) {
  CheckFloat("x", x);
  CheckDtype("the choice of experts", experts, {at::kInt});
  TORCH_CHECK_VALUE(x.dim() >= 2 && k > 0 && k <= x.size(-1), k,
                    " experts cannot be chosen by scores of shape ", x.sizes());
  auto shape = x.sizes().vec();
  shape.back() = k;
  CheckShape(y, shape);
  CheckShape(experts, shape);
}

void CheckFinished(OptionalTensor finished, Tensor x) {
  if (!finished) return;
  CheckDtype("finished", *finished, {at::kBool});
  TORCH_CHECK_VALUE(finished->sizes() == x.sizes().slice(0, x.dim() - 1), "finished tokens of shape ",
                    finished->sizes(), " for scores of shape ", x.sizes());
}

// Finished tokens go to an expert that does not exist.
at::Tensor WithoutFinished(Tensor experts, OptionalTensor finished, int64_t count) {
  return finished ? experts.masked_fill(finished->to(at::kBool).unsqueeze(-1), count) : experts;
}

// The row index numbers the choices column by column.
Plan GatingTopKSoftmax(Tensor x, OptionalTensor finished, int64_t k, Out y, Out experts, Out rowIndex) {
  CheckChoice(x, k, y, experts);
  CheckFinished(finished, x);
  CheckSameShape(experts, rowIndex);
  return [=]() mutable {
    const auto weights = at::softmax(Widened(x), -1);
    const auto chosen = LargestOfRows(weights, k);
    Store(y, weights.gather(-1, chosen));
    Store(experts, WithoutFinished(chosen, finished, x.size(-1)));
    const auto rows = chosen.numel() / k;
    Store(rowIndex, at::arange(rows * k).view({k, rows}).t().reshape(rowIndex.sizes()));
  };
}

Plan GatingTopKSoftmaxV2(Tensor x, OptionalTensor finished, int64_t k, int64_t renorm, bool wantsSoftmax,
                         Out y, Out experts, OptionalOut softmax) {
  CheckChoice(x, k, y, experts);
  CheckFinished(finished, x);
  TORCH_CHECK_VALUE(renorm == 0 || renorm == 1, "renorm ", renorm, " is not known");
  return [=]() mutable {
    const auto wide = Widened(x);
    const auto weights = at::softmax(wide, -1);
    const auto chosen = LargestOfRows(renorm == 1 ? wide : weights, k);
    Store(y, renorm == 1 ? at::softmax(wide.gather(-1, chosen), -1) : weights.gather(-1, chosen));
    Store(experts, WithoutFinished(chosen, finished, x.size(-1)));
    if (wantsSoftmax && renorm == 0) Store(softmax, weights);
  };
}

struct GatingOptions {
  int64_t k, chosenGroups, groups, groupMode, renorm, normType;
  bool wantsAll;
  double factor, epsilon;
};

enum NormType : int64_t { kSoftmaxScores = 0, kSigmoidScores = 1 };

// Masks out all but the best groups of experts. A group is as good as its best expert, or as its two best
// together.
at::Tensor InBestGroups(Tensor scores, const GatingOptions& options) {
  const auto grouped = scores.unflatten(-1, {options.groups, -1});
  const auto quality = options.groupMode == 0
                           ? grouped.amax(-1)
                           : std::get<0>(grouped.topk(std::min<int64_t>(2, grouped.size(-1)))).sum(-1);
  const auto best = LargestOfRows(quality, options.chosenGroups);
  const auto outside = at::ones_like(quality, at::kBool).scatter(-1, best, false);
  return grouped.masked_fill(outside.unsqueeze(-1), -std::numeric_limits<float>::infinity()).flatten(-2);
}

Plan GatingTopK(Tensor x, OptionalTensor bias, GatingOptions options, Out y, Out experts, OptionalOut all) {
  CheckChoice(x, options.k, y, experts);
  TORCH_CHECK_VALUE(options.normType == kSoftmaxScores || options.normType == kSigmoidScores,
                    "the norm type ", options.normType, " is not implemented");
  TORCH_CHECK_VALUE(options.renorm == 0, "renorm ", options.renorm, " is not implemented");
  TORCH_CHECK_VALUE(options.groups > 0 && x.size(-1) % options.groups == 0 && options.chosenGroups > 0 &&
                        options.chosenGroups <= options.groups,
                    options.chosenGroups, " of ", options.groups, " groups of ", x.size(-1), " experts");
  TORCH_CHECK_VALUE(options.k <= options.chosenGroups * (x.size(-1) / options.groups), options.k,
                    " experts cannot be chosen out of ", options.chosenGroups, " groups");
  if (bias) CheckShape(*bias, {x.size(-1)});
  if (options.wantsAll && all) CheckSameShape(x, *all);
  return [=]() mutable {
    const auto wide = Widened(x);
    const auto weights = options.normType == kSigmoidScores ? at::sigmoid(wide) : at::softmax(wide, -1);
    auto scores = bias ? weights + Widened(*bias) : weights;
    if (options.groups > 1) scores = InBestGroups(scores, options);
    const auto chosen = LargestOfRows(scores, options.k);
    auto result = weights.gather(-1, chosen);
    if (options.normType == kSigmoidScores) result = result / (result.sum(-1, true) + options.epsilon);
    Store(y, result * options.factor);
    Store(experts, chosen);
    if (options.wantsAll) Store(all, weights);
  };
}

}  // namespace
}  // namespace simulator::operators

// No public header declares these two: their parameters are those of the operator definition, and what
// torch_npu passes.
ACLNN(MoeGatingTopKSoftmax, Planning(GatingTopKSoftmax));
ACLNN(MoeGatingTopKSoftmaxV2, Planning(GatingTopKSoftmaxV2));
ACLNN(MoeGatingTopK,
      Planning([](Tensor x, OptionalTensor bias, int64_t k, int64_t chosenGroups, int64_t groups,
                  int64_t groupMode, int64_t renorm, int64_t normType, bool wantsAll, double factor,
                  double epsilon, Out y, Out experts, OptionalOut all) {
        return GatingTopK(x, bias,
                          {k, chosenGroups, groups, groupMode, renorm, normType, wantsAll, factor, epsilon},
                          y, experts, all);
      }));
