#include "flash_attention.h"

#include "checks.h"
#include "dropout.h"
#include "store.h"

namespace simulator::operators {
namespace {

constexpr int64_t kAddThenScale = 1;  // pseType; 0 scales first, 2 and 3 make the bias on the device

std::vector<at::Tensor> SplitOptional(const std::optional<at::Tensor>& tensor, const std::string& layout,
                                      int64_t heads, const std::vector<int64_t>& ends) {
  return tensor ? SplitSequences(*tensor, layout, heads, ends) : std::vector<at::Tensor>();
}

at::Tensor Joined(size_t index, const std::vector<at::Tensor>& features,
                  const std::vector<at::Tensor>& further) {
  const auto own = Widened(features[index]);
  return further.empty() ? own : at::cat({own, Widened(further[index])}, -1);
}

void CheckSupported(const FlashAttentionInputs& inputs, const FlashAttentionOptions& options) {
  TORCH_CHECK_VALUE(!inputs.paddingMask, "a padding mask is not implemented");
  TORCH_CHECK_VALUE(options.shiftType == 0 || options.shiftType == kAddThenScale, "pseType ",
                    options.shiftType, " is not implemented");
  TORCH_CHECK_VALUE(!inputs.shift || inputs.shift->dim() == 4,
                    "a pse of other than four dimensions is not implemented");
  TORCH_CHECK_VALUE(inputs.queryRope.has_value() == inputs.keyRope.has_value(),
                    "only one of query and key has a rope part");
  TORCH_CHECK_VALUE(options.keepProbability > 0 && options.keepProbability <= 1, "the probability ",
                    options.keepProbability, " to keep");
  TORCH_CHECK_VALUE(options.keepProbability == 1 || inputs.dropMask, "the probability ",
                    options.keepProbability, " to keep asks for a dropout mask");
}

// In modes 7 and 8 the last or first sequence that is not empty was cut.
std::optional<size_t> CutSequence(const std::vector<at::Tensor>& queries, int64_t mode) {
  std::optional<size_t> cut;
  for (size_t i = 0; i < queries.size(); ++i) {
    if (queries[i].size(1) > 0 && (mode == 7 || !cut)) cut = i;
  }
  return cut;
}

void Accumulate(at::Tensor& sum, Tensor part) { sum = sum.defined() ? sum + part : part; }

std::optional<at::Tensor> ItemOf(const std::vector<at::Tensor>& items, size_t index) {
  return items.empty() ? std::nullopt : std::optional(items[index]);
}

// Where the gradient of joined features goes: the first features to one tensor, the others to another if
// there is one.
class FeatureParts {
 public:
  FeatureParts(std::vector<at::Tensor> first, std::vector<at::Tensor> others)
      : first_(std::move(first)), others_(std::move(others)) {}

  void Store(size_t index, Tensor joined) const {
    const auto features = first_[index].size(-1);
    first_[index].copy_(joined.narrow(-1, 0, features));
    if (!others_.empty()) others_[index].copy_(joined.narrow(-1, features, joined.size(-1) - features));
  }

 private:
  std::vector<at::Tensor> first_, others_;
};

}  // namespace

struct FlashAttention::Sequence {
  at::Tensor query, key, value;
  std::optional<at::Tensor> masked, kept;
  at::Tensor scores;  // scaled and biased, before the mask

  // Drops, and scales up what is kept.
  at::Tensor Dropped(Tensor tensor) const { return kept ? tensor * *kept : tensor; }
};

struct FlashAttention::SequenceGradients {
  at::Tensor query, key, value;
  at::Tensor shift, sink;  // undefined without these inputs
};

FlashAttention::FlashAttention(FlashAttentionInputs inputs, FlashAttentionOptions options)
    : inputs_(std::move(inputs)), options_(std::move(options)) {
  CheckSupported(inputs_, options_);
  const auto& layout = options_.layout;
  const auto features = HeadFeatures(inputs_.query, layout, options_.heads);
  const bool joinsHeads = layout == "BSH" || layout == "SBH";
  queries_ = SplitSequences(inputs_.query, layout, options_.heads, inputs_.queryEnds);
  const auto keyHeads = joinsHeads ? inputs_.key.size(-1) / std::max<int64_t>(features, 1) : 0;
  keys_ = SplitSequences(inputs_.key, layout, keyHeads, inputs_.keyEnds);
  TORCH_CHECK_VALUE(!queries_.empty() && queries_.size() == keys_.size(), queries_.size(),
                    " sequences of queries and ", keys_.size(), " of keys");
  sharedHeads_ = keys_[0].size(0);
  values_ = SplitSequences(inputs_.value, layout, sharedHeads_, inputs_.keyEnds);
  queryRopes_ = SplitOptional(inputs_.queryRope, layout, options_.heads, inputs_.queryEnds);
  keyRopes_ = SplitOptional(inputs_.keyRope, layout, sharedHeads_, inputs_.keyEnds);
  TORCH_CHECK_VALUE(queries_[0].size(0) == options_.heads, "the query has ", queries_[0].size(0),
                    " heads, not ", options_.heads);
  TORCH_CHECK_VALUE(sharedHeads_ > 0 && options_.heads % sharedHeads_ == 0, options_.heads,
                    " heads cannot share ", sharedHeads_);
  TORCH_CHECK_VALUE(values_.size() == keys_.size() && values_[0].size(0) == sharedHeads_ &&
                        keys_[0].size(2) == queries_[0].size(2),
                    "query, key and value of shapes ", inputs_.query.sizes(), ", ", inputs_.key.sizes(),
                    " and ", inputs_.value.sizes(), " do not fit together");
  int64_t scores = 0;
  for (size_t i = 0; i < queries_.size(); ++i) {
    scoresBefore_.push_back(scores);
    scores += options_.heads * queries_[i].size(1) * keys_[i].size(1);
  }
  masking_ = {inputs_.mask,   options_.sparseMode, options_.before,
              options_.after, inputs_.prefix,      CutSequence(queries_, options_.sparseMode)};
  CheckMasking(masking_);
}

void FlashAttention::CheckResult(Tensor result) const {
  auto shape = inputs_.query.sizes().vec();
  const bool joinsHeads = options_.layout == "BSH" || options_.layout == "SBH";
  shape.back() = values_[0].size(2) * (joinsHeads ? options_.heads : 1);
  CheckShape(result, shape);
}

// Views of heads, rows and the eight copies that the device writes of each number.
std::vector<at::Tensor> FlashAttention::Statistics(Tensor statistic) const {
  if (options_.layout != "TND") return statistic.unbind(0);
  if (options_.statisticsAsInput) return SplitSequences(statistic, "TND", options_.heads, inputs_.queryEnds);
  std::vector<at::Tensor> views;
  const auto copies = statistic.size(-1);
  int64_t start = 0;
  for (const auto& query : queries_) {
    const auto count = query.size(0) * query.size(1) * copies;
    views.push_back(statistic.flatten().narrow(0, start, count).view({query.size(0), query.size(1), copies}));
    start += count;
  }
  return views;
}

at::Tensor FlashAttention::ShiftOf(size_t index, const Sequence& sequence) const {
  const auto own =
      Widened(inputs_.shift->select(0, inputs_.shift->size(0) == 1 ? 0 : static_cast<int64_t>(index)));
  return own.expand({options_.heads, sequence.query.size(1), sequence.key.size(1)});
}

std::optional<at::Tensor> FlashAttention::KeptOf(size_t index, const Sequence& sequence) const {
  if (options_.keepProbability == 1) return std::nullopt;
  const auto rows = sequence.query.size(1), columns = sequence.key.size(1);
  const auto start = scoresBefore_[index], count = options_.heads * rows * columns;
  const auto bits = KeptElements(*inputs_.dropMask, {start + count}).narrow(0, start, count);
  return bits.view({options_.heads, rows, columns}) / options_.keepProbability;
}

FlashAttention::Sequence FlashAttention::Load(size_t index) const {
  Sequence sequence;
  sequence.query = Joined(index, queries_, queryRopes_);
  sequence.key = Joined(index, keys_, keyRopes_);
  sequence.value = Widened(values_[index]);
  auto scores = SharedProduct(sequence.query, sequence.key.transpose(1, 2));
  if (inputs_.shift && options_.shiftType == kAddThenScale) scores = scores + ShiftOf(index, sequence);
  scores = scores * options_.scale;
  if (inputs_.shift && options_.shiftType != kAddThenScale) scores = scores + ShiftOf(index, sequence);
  sequence.scores = scores;
  sequence.masked = MaskedOut(masking_, index, scores.size(1), scores.size(2));
  sequence.kept = KeptOf(index, sequence);
  return sequence;
}

void FlashAttention::Forward(const FlashAttentionOutputs& outputs) const {
  const auto results = SplitSequences(outputs.result, options_.layout, options_.heads, inputs_.queryEnds);
  const auto largest = Statistics(outputs.largest), total = Statistics(outputs.total);
  for (size_t i = 0; i < queries_.size(); ++i) {
    const auto sequence = Load(i);
    const auto softmax = SoftmaxOf(sequence.scores, sequence.masked, inputs_.sink);
    results[i].copy_(SharedProduct(sequence.Dropped(softmax.weights), sequence.value));
    largest[i].copy_(softmax.largest.expand_as(largest[i]));
    total[i].copy_(softmax.total.expand_as(total[i]));
  }
}

// From the statistics that the caller passes where there are any: those of a sequence that is spread over
// devices count the keys of all.
SoftmaxRows FlashAttention::Restored(const Sequence& sequence, const std::optional<at::Tensor>& largest,
                                     const std::optional<at::Tensor>& total) const {
  if (!largest || !total) return SoftmaxOf(sequence.scores, sequence.masked, inputs_.sink);
  SoftmaxRows softmax;
  softmax.largest = largest->narrow(-1, 0, 1);
  softmax.total = total->narrow(-1, 0, 1);
  softmax.weights =
      at::exp(sequence.scores - softmax.largest) / softmax.total.masked_fill(softmax.total == 0, 1);
  if (sequence.masked) softmax.weights = softmax.weights.masked_fill(*sequence.masked, 0);
  return softmax;
}

FlashAttention::SequenceGradients FlashAttention::Differentiate(const Sequence& sequence,
                                                                const SoftmaxRows& softmax, Tensor outGrad,
                                                                const std::optional<at::Tensor>& out) const {
  const auto weightsGrad = sequence.Dropped(SharedProduct(outGrad, sequence.value.transpose(1, 2)));
  const auto projection =
      out ? (outGrad * Widened(*out)).sum(-1, true) : (weightsGrad * softmax.weights).sum(-1, true);
  const auto scoresGrad = softmax.weights * (weightsGrad - projection);
  const auto productGrad = scoresGrad * options_.scale;
  SequenceGradients gradients;
  gradients.query = SharedProduct(productGrad, sequence.key);
  gradients.key = SumOfTransposedProducts(productGrad, sequence.query, sharedHeads_);
  gradients.value = SumOfTransposedProducts(sequence.Dropped(softmax.weights), outGrad, sharedHeads_);
  if (inputs_.shift) {
    const auto& biasGrad = options_.shiftType == kAddThenScale ? productGrad : scoresGrad;
    gradients.shift = biasGrad.sum_to_size(inputs_.shift->sizes().slice(1));
  }
  if (inputs_.sink) {
    const auto sink = at::exp(Widened(*inputs_.sink).view({-1, 1, 1}) - softmax.largest) / softmax.total;
    gradients.sink = -(sink * projection).sum({1, 2});
  }
  return gradients;
}

void FlashAttention::Backward(const FlashAttentionSaved& saved,
                              const FlashAttentionGradients& gradients) const {
  const auto& layout = options_.layout;
  const auto& queryEnds = inputs_.queryEnds;
  const auto outGrads = SplitSequences(saved.gradOutput, layout, options_.heads, queryEnds);
  const auto outs = SplitOptional(saved.result, layout, options_.heads, queryEnds);
  const auto largest = saved.largest ? Statistics(*saved.largest) : std::vector<at::Tensor>();
  const auto total = saved.total ? Statistics(*saved.total) : std::vector<at::Tensor>();
  const FeatureParts queryParts(SplitSequences(gradients.query, layout, options_.heads, queryEnds),
                                SplitOptional(gradients.queryRope, layout, options_.heads, queryEnds));
  const FeatureParts keyParts(SplitSequences(gradients.key, layout, sharedHeads_, inputs_.keyEnds),
                              SplitOptional(gradients.keyRope, layout, sharedHeads_, inputs_.keyEnds));
  const auto valueGrads = SplitSequences(gradients.value, layout, sharedHeads_, inputs_.keyEnds);
  std::vector<at::Tensor> shiftGrads(inputs_.shift ? inputs_.shift->size(0) : 0);
  std::optional<at::Tensor> sinkGrad;
  for (size_t i = 0; i < queries_.size(); ++i) {
    const auto sequence = Load(i);
    const auto softmax = Restored(sequence, ItemOf(largest, i), ItemOf(total, i));
    const auto own = Differentiate(sequence, softmax, Widened(outGrads[i]), ItemOf(outs, i));
    queryParts.Store(i, own.query);
    keyParts.Store(i, own.key);
    valueGrads[i].copy_(own.value);
    if (inputs_.shift) Accumulate(shiftGrads[shiftGrads.size() == 1 ? 0 : i], own.shift);
    if (inputs_.sink) sinkGrad = sinkGrad ? *sinkGrad + own.sink : own.sink;
  }
  if (gradients.shift && !shiftGrads.empty()) gradients.shift->copy_(at::stack(shiftGrads));
  if (gradients.sink && sinkGrad) gradients.sink->copy_(*sinkGrad);
}

}  // namespace simulator::operators
