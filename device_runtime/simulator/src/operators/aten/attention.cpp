// Scaled dot-product attention and its gradient, computed in float from the definition.
#include "binding.h"
#include "dropout.h"
#include "store.h"

namespace simulator::operators {
namespace {

struct Settings {
  double scale;
  double keepProbability;
  int64_t heads;
  std::string layout;
  int64_t sparseMode;
};

// A view of `tensor` as batch, heads, sequence, features.
at::Tensor Unpacked(Tensor tensor, const std::string& layout, int64_t features) {
  if (layout == "BNSD") return tensor;
  if (layout == "BSND") return tensor.transpose(1, 2);
  if (layout == "BSH") return tensor.unflatten(2, {-1, features}).transpose(1, 2);
  TORCH_CHECK_VALUE(layout == "SBH", "the layout ", layout, " is not implemented");
  return tensor.unflatten(2, {-1, features}).permute({1, 2, 0, 3});
}

int64_t Features(Tensor query, const Settings& settings) {
  const bool packed = settings.layout == "BSH" || settings.layout == "SBH";
  return packed ? query.size(-1) / settings.heads : query.size(-1);
}

// What is masked out, if anything. With a causal mode the mask tensor is only a pattern of fixed size.
std::optional<at::Tensor> MaskedOut(OptionalTensor mask, int64_t mode, Tensor scores) {
  if (!mask) return std::nullopt;
  if (mode == 0 || mode == 1) return mask->to(at::kBool);
  TORCH_CHECK_VALUE(mode == 2 || mode == 3, "the sparse mode ", mode, " is not implemented");
  const auto rows = scores.size(-2), columns = scores.size(-1);
  const auto diagonal = mode == 2 ? 0 : columns - rows;  // from the upper left, or to the lower right corner
  return at::ones({rows, columns}, scores.options().dtype(at::kBool)).triu(diagonal + 1);
}

// The steps of one forward computation that the gradient needs as well.
struct Attention {
  at::Tensor query, key, value;  // batch, heads, sequence, features, in float; one key head a query head
  int64_t group;                 // query heads that share a head of key and value
  at::Tensor scores;             // scaled and masked
  at::Tensor weights;
  std::optional<at::Tensor> kept;  // by the dropout, scaled up

  at::Tensor Dropped(Tensor tensor) const { return kept ? tensor * *kept : tensor; }
};

Attention Compute(Tensor query, Tensor key, Tensor value, OptionalTensor shift, OptionalTensor dropMask,
                  OptionalTensor mask, const Settings& settings) {
  Attention attention;
  const auto features = Features(query, settings);
  const auto wide = [&](Tensor tensor, int64_t size) {
    return Unpacked(Widened(tensor), settings.layout, size);
  };
  attention.query = wide(query, features);
  attention.key = wide(key, features);
  TORCH_CHECK_VALUE(attention.query.size(1) == settings.heads, "the query has ", attention.query.size(1),
                    " heads, not ", settings.heads);
  const auto sharedHeads = attention.key.size(1);
  TORCH_CHECK_VALUE(settings.heads % sharedHeads == 0, settings.heads, " heads cannot share ", sharedHeads);
  attention.group = settings.heads / sharedHeads;
  const bool packed = value.dim() == 3;
  attention.value = wide(value, packed ? value.size(-1) / sharedHeads : value.size(-1));
  attention.key = attention.key.repeat_interleave(attention.group, 1);
  attention.value = attention.value.repeat_interleave(attention.group, 1);

  attention.scores = at::matmul(attention.query, attention.key.transpose(-1, -2));
  if (shift) attention.scores = attention.scores + Widened(*shift);
  attention.scores = attention.scores * settings.scale;
  const auto masked = MaskedOut(mask, settings.sparseMode, attention.scores);
  if (masked)
    attention.scores = attention.scores.masked_fill(*masked, -std::numeric_limits<double>::infinity());
  attention.weights = at::_safe_softmax(attention.scores, -1);
  if (settings.keepProbability < 1) {
    TORCH_CHECK_VALUE(dropMask, "the probability ", settings.keepProbability,
                      " to keep asks for a dropout mask");
    attention.kept = KeptElements(*dropMask, attention.scores.sizes()) / settings.keepProbability;
  }
  return attention;
}

// Sums the gradient of repeated heads and stores it in the layout of `out`.
void StoreUnpacked(Out out, Tensor grad, int64_t group, const std::string& layout) {
  auto target = Unpacked(out, layout, grad.size(-1));
  Store(target, group == 1 ? grad : grad.unflatten(1, {-1, group}).sum(2));
}

void Score(Tensor query, Tensor key, Tensor value, OptionalTensor shift, OptionalTensor dropMask,
           OptionalTensor paddingMask, OptionalTensor mask, Sizes /*prefix, of sparse modes 5 and 6*/,
           double scale, double keepProbability, int64_t /*preTokens, told by the mask*/,
           int64_t /*nextTokens*/, int64_t heads, Text layout, int64_t /*innerPrecise*/, int64_t sparseMode,
           Out softmaxMax, Out softmaxSum, Out /*softmaxOut, unused by the device*/, Out out) {
  TORCH_CHECK_VALUE(!paddingMask, "a padding mask is not implemented");
  const auto attention =
      Compute(query, key, value, shift, dropMask, mask, {scale, keepProbability, heads, layout, sparseMode});
  StoreUnpacked(out, at::matmul(attention.Dropped(attention.weights), attention.value), 1, layout);
  const auto largest = attention.scores.amax(-1, true);
  const auto offset = at::where(largest.isinf(), 0, largest);  // a row that is masked out sums to 0
  Store(softmaxMax, largest.expand_as(softmaxMax));
  Store(softmaxSum, at::exp(attention.scores - offset).sum(-1, true).expand_as(softmaxSum));
}

void ScoreGrad(Tensor query, Tensor key, Tensor value, Tensor grad, OptionalTensor shift,
               OptionalTensor dropMask, OptionalTensor paddingMask, OptionalTensor mask,
               OptionalTensor /*softmaxMax*/, OptionalTensor /*softmaxSum*/, OptionalTensor /*softmaxIn*/,
               OptionalTensor /*attentionIn*/, Sizes /*prefix*/, double scale, double keepProbability,
               int64_t /*preTokens*/, int64_t /*nextTokens*/, int64_t heads, Text layout,
               int64_t /*innerPrecise*/, int64_t sparseMode, Out queryGrad, Out keyGrad, Out valueGrad,
               OptionalOut shiftGrad) {
  TORCH_CHECK_VALUE(!paddingMask, "a padding mask is not implemented");
  const auto attention =
      Compute(query, key, value, shift, dropMask, mask, {scale, keepProbability, heads, layout, sparseMode});
  const auto outGrad = Unpacked(Widened(grad), layout, attention.value.size(-1));
  const auto& weights = attention.weights;
  const auto weightsGrad = attention.Dropped(at::matmul(outGrad, attention.value.transpose(-1, -2)));
  const auto scoresGrad = weights * (weightsGrad - (weightsGrad * weights).sum(-1, true)) * scale;
  StoreUnpacked(valueGrad, at::matmul(attention.Dropped(weights).transpose(-1, -2), outGrad), attention.group,
                layout);
  StoreUnpacked(queryGrad, at::matmul(scoresGrad, attention.key), 1, layout);
  StoreUnpacked(keyGrad, at::matmul(scoresGrad.transpose(-1, -2), attention.query), attention.group, layout);
  if (shift && shiftGrad) Store(shiftGrad, scoresGrad.sum_to_size(shift->sizes()));
}

}  // namespace
}  // namespace simulator::operators

ACLNN(FlashAttentionScore, Score);
ACLNN(FlashAttentionScoreGrad, ScoreGrad);
