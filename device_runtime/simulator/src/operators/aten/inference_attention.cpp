#include "inference_attention.h"

#include "dtypes.h"
#include "quantize.h"
#include "store.h"

namespace simulator::operators {
namespace {

bool Ragged(const std::string& layout) { return layout == "TND" || layout == "NTD"; }

// Views of heads, rows, features; the layouts of results add two that put heads first.
std::vector<at::Tensor> Sequences(Tensor tensor, const std::string& layout, int64_t heads,
                                  const std::vector<int64_t>& ends) {
  if (layout == "NTD") return SplitSequences(tensor.transpose(0, 1), "TND", heads, ends);
  if (layout == "NBSD") return SplitSequences(tensor.transpose(0, 1), "BNSD", heads, ends);
  return SplitSequences(tensor, layout, heads, ends);
}

// A length for each batch, one for all, or none: then all rows count.
int64_t LengthOf(const std::vector<int64_t>& lengths, size_t batch, int64_t rows) {
  if (lengths.empty()) return rows;
  return std::min(lengths.size() == 1 ? lengths[0] : lengths.at(batch), rows);
}

// The mask of one new token has a row a batch.
std::optional<at::Tensor> MaskByBatch(const std::optional<at::Tensor>& mask, int64_t rows, int64_t batches) {
  if (!mask || mask->dim() != 2 || rows != 1 || mask->size(0) != batches) return mask;
  return mask->view({batches, 1, 1, mask->size(1)});
}

// Channels are the features of a head; a parameter that joins heads and features has those of all heads.
at::Tensor PerHead(Tensor parameter, int64_t heads) {
  const auto wide = Widened(parameter);
  return wide.numel() == 1 ? wide.reshape({1, 1, 1}) : wide.reshape({heads, 1, -1});
}

at::Tensor PerToken(Tensor parameter, size_t batch, int64_t rows) {
  const auto byBatch = Widened(parameter).reshape({-1, parameter.size(-1)});
  const auto own = byBatch.select(0, byBatch.size(0) == 1 ? 0 : static_cast<int64_t>(batch));
  return own.narrow(0, 0, rows).view({1, rows, 1});
}

at::Tensor Restored(Tensor cached, const CacheScales& scales, size_t batch) {
  const auto wide = cached.to(at::kFloat);
  if (!scales.scale) return wide;
  const auto of = [&](Tensor parameter) {
    return scales.mode == 1 ? PerToken(parameter, batch, wide.size(1)) : PerHead(parameter, wide.size(0));
  };
  return (scales.offset ? wide + of(*scales.offset) : wide) * of(*scales.scale);
}

void CheckCacheScales(const CacheScales& scales, bool paged) {
  TORCH_CHECK_VALUE(!scales.scale || scales.mode == 0 || (scales.mode == 1 && !paged), "the antiquant mode ",
                    scales.mode, paged ? " of a paged cache" : "", " is not implemented");
}

}  // namespace

InferenceAttention::InferenceAttention(InferenceInputs inputs, InferenceOptions options)
    : inputs_(std::move(inputs)), options_(std::move(options)) {
  const auto underscore = options_.layout.find('_');
  inputLayout_ = options_.layout.substr(0, underscore);
  resultLayout_ = underscore == std::string::npos ? inputLayout_ : options_.layout.substr(underscore + 1);
  if (options_.sharedHeads == 0) options_.sharedHeads = options_.heads;
  TORCH_CHECK_VALUE(options_.heads > 0 && options_.heads % options_.sharedHeads == 0, options_.heads,
                    " heads cannot share ", options_.sharedHeads);
  TORCH_CHECK_VALUE(!inputs_.key.empty() && inputs_.key.size() == inputs_.value.size(), inputs_.key.size(),
                    " tensors of keys and ", inputs_.value.size(), " of values");
  CheckHalf("a query", inputs_.query);
  for (const auto& key : inputs_.key) CheckDtype("a key", key, {inputs_.query.scalar_type(), at::kChar});
  for (const auto& value : inputs_.value)
    CheckDtype("a value", value, {inputs_.query.scalar_type(), at::kChar});
  TORCH_CHECK_VALUE(!Ragged(inputLayout_) || !inputs_.queryLengths.empty(), "the layout ", inputLayout_,
                    " asks for the ends of the sequences");
  TORCH_CHECK_VALUE(!Paged() || !inputs_.keyLengths.empty(),
                    "a paged cache asks for the lengths of the sequences");
  CheckCacheScales(inputs_.keyScales, Paged());
  CheckCacheScales(inputs_.valueScales, Paged());
  queries_ = Sequences(inputs_.query, inputLayout_, options_.heads, inputs_.queryLengths);
  if (inputs_.queryRope) {
    TORCH_CHECK_VALUE(inputs_.keyRope, "only the query has a rope part");
    queryRopes_ = Sequences(*inputs_.queryRope, inputLayout_, options_.heads, inputs_.queryLengths);
  }
  TORCH_CHECK_VALUE(queries_.empty() || queries_[0].size(0) == options_.heads, "the query has ",
                    queries_.empty() ? 0 : queries_[0].size(0), " heads, not ", options_.heads);
  const auto rows = queries_.empty() ? 0 : queries_[0].size(1);
  // The pattern of a single new token's mode masks nothing.
  const bool pattern = options_.sparseMode >= 2 && rows == 1 && !Ragged(inputLayout_);
  masking_ = {pattern ? std::nullopt : MaskByBatch(inputs_.mask, rows, static_cast<int64_t>(queries_.size())),
              pattern ? 0 : options_.sparseMode, options_.before, options_.after};
  TORCH_CHECK_VALUE(options_.sparseMode <= 4, "the sparse mode ", options_.sparseMode, " is not implemented");
  CheckMasking(masking_);
}

void InferenceAttention::CheckFits(Tensor result) const {
  const auto batches = queries_.size();
  const auto counted = [&](const std::vector<int64_t>& lengths) {
    return lengths.size() <= 1 || lengths.size() == batches;
  };
  TORCH_CHECK_VALUE(counted(inputs_.queryLengths) && counted(inputs_.keyLengths), "the lengths of ",
                    inputs_.queryLengths.size(), " queries and ", inputs_.keyLengths.size(), " keys for ",
                    batches, " sequences");
  const auto results = Sequences(result, resultLayout_, options_.heads, inputs_.queryLengths);
  TORCH_CHECK_VALUE(results.size() == batches, "the result has ", results.size(), " sequences, not ",
                    batches);
  for (size_t batch = 0; batch < batches; ++batch) {
    TORCH_CHECK_VALUE(results[batch].sizes().slice(0, 2) == queries_[batch].sizes().slice(0, 2),
                      "a result of ", results[batch].sizes(), " heads, rows and features for a query of ",
                      queries_[batch].sizes());
  }
  if (Paged()) {
    TORCH_CHECK_VALUE(
        inputs_.blockTable->dim() == 2 && inputs_.blockTable->size(0) == static_cast<int64_t>(batches),
        "a block table of shape ", inputs_.blockTable->sizes(), " for ", batches, " sequences");
    return;
  }
  for (size_t batch = 0; batch < batches; ++batch) {
    const auto length = KeyLength(batch);
    const auto key = Cached(inputs_.key, batch, length), value = Cached(inputs_.value, batch, length);
    TORCH_CHECK_VALUE(key.size(0) == options_.sharedHeads && key.size(-1) == queries_[batch].size(-1),
                      "a key of ", key.sizes(), " heads, rows and features for a query of ",
                      queries_[batch].sizes());
    TORCH_CHECK_VALUE(value.size(-1) == results[batch].size(-1), "a value of ", value.size(-1),
                      " features for a result of ", results[batch].size(-1));
  }
}

int64_t InferenceAttention::QueryLength(size_t batch) const {
  const auto rows = queries_[batch].size(1);
  return Ragged(inputLayout_) ? rows : LengthOf(inputs_.queryLengths, batch, rows);
}

// Ragged keys are counted by the ends of the sequences, unless they are paged.
int64_t InferenceAttention::KeyLength(size_t batch) const {
  const auto& lengths = inputs_.keyLengths;
  if (Paged()) return lengths.size() == 1 ? lengths[0] : lengths.at(batch);
  if (Ragged(inputLayout_)) return lengths.at(batch) - (batch == 0 ? 0 : lengths[batch - 1]);
  const auto& own = inputs_.key.size() > 1 ? inputs_.key.at(batch) : inputs_.key[0];
  const auto rows = inputLayout_ == "BNSD" ? own.size(2) : own.size(1);
  return LengthOf(lengths, batch, rows);
}

// Gathers the blocks of a sequence. A block holds rows of all heads (blocks, rows, features), heads of rows
// (blocks, heads, rows, features), or these with the features in pieces of a fixed size (blocks, heads,
// pieces, rows, piece).
at::Tensor InferenceAttention::PagedRows(Tensor cache, size_t batch, int64_t length) const {
  const auto heads = options_.sharedHeads;
  at::Tensor blocks = cache;
  if (cache.dim() == 5) blocks = cache.permute({0, 1, 3, 2, 4}).flatten(3);
  if (cache.dim() == 3) blocks = cache.unflatten(2, {heads, -1}).transpose(1, 2);
  TORCH_CHECK_VALUE(blocks.dim() == 4 && blocks.size(1) == heads, "a cache of shape ", cache.sizes(),
                    " does not have ", heads, " heads");
  const auto rows = blocks.size(2);
  const auto used =
      inputs_.blockTable->select(0, static_cast<int64_t>(batch)).narrow(0, 0, (length + rows - 1) / rows);
  const auto gathered = blocks.index_select(0, used.to(at::kLong)).transpose(0, 1).flatten(1, 2);
  return gathered.narrow(1, 0, length);
}

at::Tensor InferenceAttention::Cached(const std::vector<at::Tensor>& cache, size_t batch,
                                      int64_t length) const {
  if (Paged()) return PagedRows(cache[0], batch, length);
  const auto& ends = Ragged(inputLayout_) ? inputs_.keyLengths : std::vector<int64_t>();
  const auto own = cache.size() > 1
                       ? Sequences(cache.at(batch), inputLayout_, options_.sharedHeads, ends).at(0)
                       : Sequences(cache[0], inputLayout_, options_.sharedHeads, ends).at(batch);
  return own.narrow(1, 0, length);
}

void InferenceAttention::AttendTo(size_t batch, Tensor result,
                                  const std::optional<at::Tensor>& logSums) const {
  const auto rows = QueryLength(batch), length = KeyLength(batch);
  result.zero_();  // rows beyond the length of the sequence
  if (logSums) logSums->fill_(std::numeric_limits<float>::infinity());
  if (rows == 0 || length == 0) return;
  auto query = Widened(queries_[batch].narrow(1, 0, rows));
  auto key = Restored(Cached(inputs_.key, batch, length), inputs_.keyScales, batch);
  const auto value = Restored(Cached(inputs_.value, batch, length), inputs_.valueScales, batch);
  if (!queryRopes_.empty()) {
    query = at::cat({query, Widened(queryRopes_[batch].narrow(1, 0, rows))}, -1);
    key = at::cat({key, Widened(Cached({*inputs_.keyRope}, batch, length))}, -1);
  }
  auto scores = SharedProduct(query, key.transpose(1, 2)) * options_.scale;
  if (inputs_.shift) {
    const auto own = inputs_.shift->select(0, inputs_.shift->size(0) == 1 ? 0 : static_cast<int64_t>(batch));
    scores = scores + Widened(own.narrow(-2, 0, rows).narrow(-1, 0, length));
  }
  const auto softmax = SoftmaxOf(scores, MaskedOut(masking_, batch, rows, length), inputs_.sink);
  const auto attended = SharedProduct(softmax.weights, value);
  auto target = result.narrow(1, 0, rows);
  if (inputs_.resultScale) {
    auto scaled = attended * PerHead(*inputs_.resultScale, options_.heads);
    if (inputs_.resultOffset) scaled = scaled + PerHead(*inputs_.resultOffset, options_.heads);
    StoreQuantised(target, scaled);
  } else {
    target.copy_(attended);
  }
  if (!logSums) return;
  const auto sums = softmax.largest + at::log(softmax.total);
  logSums->narrow(1, 0, rows)
      .copy_(sums.masked_fill(softmax.total == 0, std::numeric_limits<float>::infinity()));
}

void InferenceAttention::Run(Tensor result, const std::optional<at::Tensor>& logSums) const {
  const auto results = Sequences(result, resultLayout_, options_.heads, inputs_.queryLengths);
  std::vector<at::Tensor> sums;
  if (logSums)
    sums = Sequences(*logSums, Ragged(inputLayout_) ? "TND" : "BNSD", options_.heads, inputs_.queryLengths);
  for (size_t batch = 0; batch < queries_.size(); ++batch) {
    AttendTo(batch, results.at(batch), logSums ? std::optional(sums.at(batch)) : std::nullopt);
  }
}

}  // namespace simulator::operators
