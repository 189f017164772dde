#include "attention.h"

#include <limits>

namespace simulator::operators {
namespace {

enum SparseMode : int64_t {
  kGivenMask = 0,
  kWholeMask = 1,
  kCausal = 2,       // from the upper left corner
  kCausalToEnd = 3,  // to the lower right corner
  kBand = 4,         // around the diagonal that ends in the lower right corner
  kPrefixMask = 5,
  kCausalWithPrefix = 6,
  kCutCausalToEnd = 7,  // as kCausalToEnd, the last sequence as kBand
  kCutCausal = 8,       // as kCausal, the first sequence as kBand
};

std::vector<at::Tensor> Each(Tensor batches) { return batches.unbind(0); }

std::vector<at::Tensor> SplitAt(Tensor tokens, const std::vector<int64_t>& ends) {
  std::vector<at::Tensor> sequences;
  int64_t start = 0;
  for (const auto end : ends) {
    TORCH_CHECK_VALUE(start <= end && end <= tokens.size(0), "a sequence from ", start, " to ", end,
                      " does not lie in tokens of shape ", tokens.sizes());
    sequences.push_back(tokens.narrow(0, start, end - start).transpose(0, 1));
    start = end;
  }
  return sequences;
}

void CheckDimensions(Tensor tensor, int64_t expected, const std::string& layout) {
  TORCH_CHECK_VALUE(tensor.dim() == expected, "a tensor of shape ", tensor.sizes(),
                    " does not have the layout ", layout);
}

// True above the diagonal that is `offset` columns to the right of the main one.
at::Tensor Above(int64_t offset, int64_t rows, int64_t columns, const at::TensorOptions& options) {
  return at::ones({rows, columns}, options.dtype(at::kBool)).triu(offset + 1);
}

at::Tensor OutsideBand(const Masking& masking, int64_t rows, int64_t columns) {
  const auto all = at::ones({rows, columns}, masking.mask->options().dtype(at::kBool));
  const auto shift = columns - rows;
  const auto bound = rows + columns;  // further than any diagonal
  const auto above = std::min(masking.after, bound) + shift + 1;
  const auto below = shift - std::min(masking.before, bound) - 1;
  return all.triu(above).logical_or(all.tril(below));
}

// A mask for the longest sequences serves shorter ones by its upper left corner.
at::Tensor GivenMask(Tensor mask, size_t sequence, int64_t rows, int64_t columns) {
  auto own = mask.dim() == 4 || mask.dim() == 3 ? mask.select(0, mask.size(0) == 1 ? 0 : sequence) : mask;
  if (own.size(-2) > rows) own = own.narrow(-2, 0, rows);
  if (own.size(-1) > columns) own = own.narrow(-1, 0, columns);
  return own.to(at::kBool);
}

at::Tensor WithPrefix(const Masking& masking, size_t sequence, int64_t rows, int64_t columns) {
  auto masked = Above(columns - rows, rows, columns, masking.mask->options());
  masked.narrow(1, 0, std::min(masking.prefix.at(sequence), columns)).fill_(false);
  return masked;
}

}  // namespace

std::vector<at::Tensor> SplitSequences(Tensor tensor, const std::string& layout, int64_t heads,
                                       const std::vector<int64_t>& ends) {
  const bool joinsHeads = layout == "BSH" || layout == "SBH";
  CheckDimensions(tensor, joinsHeads || layout == "TND" ? 3 : 4, layout);
  if (joinsHeads) {
    TORCH_CHECK_VALUE(heads > 0 && tensor.size(2) % heads == 0, tensor.size(2),
                      " features do not divide into ", heads, " heads");
  }
  if (layout == "BNSD") return Each(tensor);
  if (layout == "BSND") return Each(tensor.transpose(1, 2));
  if (layout == "BSH") return Each(tensor.unflatten(2, {heads, -1}).transpose(1, 2));
  if (layout == "SBH") return Each(tensor.unflatten(2, {heads, -1}).permute({1, 2, 0, 3}));
  TORCH_CHECK_VALUE(layout == "TND", "the layout ", layout, " is not implemented");
  return SplitAt(tensor, ends);
}

int64_t HeadFeatures(Tensor tensor, const std::string& layout, int64_t heads) {
  TORCH_CHECK_VALUE(heads > 0, heads, " heads");
  return layout == "BSH" || layout == "SBH" ? tensor.size(-1) / heads : tensor.size(-1);
}

void CheckMasking(const Masking& masking) {
  const auto mode = masking.mode;
  TORCH_CHECK_VALUE(mode >= kGivenMask && mode <= kCutCausal, "the sparse mode ", mode, " is not known");
  TORCH_CHECK_VALUE(mode == kGivenMask || masking.mask, "the sparse mode ", mode,
                    " asks for an attention mask");
  TORCH_CHECK_VALUE(!masking.mask || masking.mask->dim() >= 2, "an attention mask without rows and columns");
  TORCH_CHECK_VALUE(mode != kCausalWithPrefix || !masking.prefix.empty(),
                    "the sparse mode 6 asks for a prefix");
}

std::optional<at::Tensor> MaskedOut(const Masking& masking, size_t sequence, int64_t rows, int64_t columns) {
  if (!masking.mask) return std::nullopt;
  const auto options = masking.mask->options();
  switch (masking.mode) {
    case kCausal:
      return Above(0, rows, columns, options);
    case kCausalToEnd:
      return Above(columns - rows, rows, columns, options);
    case kBand:
      return OutsideBand(masking, rows, columns);
    case kCausalWithPrefix:
      return WithPrefix(masking, sequence, rows, columns);
    case kCutCausalToEnd:
      if (masking.cut == sequence) return OutsideBand(masking, rows, columns);
      return Above(columns - rows, rows, columns, options);
    case kCutCausal:
      if (masking.cut == sequence) return OutsideBand(masking, rows, columns);
      return Above(0, rows, columns, options);
    default:
      return GivenMask(*masking.mask, sequence, rows, columns);
  }
}

SoftmaxRows SoftmaxOf(Tensor scores, const std::optional<at::Tensor>& masked,
                      const std::optional<at::Tensor>& sink) {
  constexpr auto kInfinity = std::numeric_limits<float>::infinity();
  const auto seen = masked ? scores.masked_fill(*masked, -kInfinity) : scores;
  // A start value keeps the statistics finite, also of a row without keys.
  const auto start =
      at::full({seen.size(0), seen.size(1), 1}, std::numeric_limits<float>::lowest(), seen.options());
  const auto first = sink ? at::maximum(start, sink->to(at::kFloat).view({-1, 1, 1})) : start;
  const auto largest = seen.size(-1) == 0 ? first : at::maximum(seen.amax(-1, true), first);
  const auto exponentials = (seen - largest).exp_();
  auto total = exponentials.sum(-1, true);
  if (sink) total = total + at::exp(sink->to(at::kFloat).view({-1, 1, 1}) - largest);
  return {exponentials.div_(total.masked_fill(total == 0, 1)), largest, total};
}

at::Tensor SharedProduct(Tensor left, Tensor right) {
  const auto heads = left.size(0), rows = left.size(1), shared = right.size(0);
  const auto joined = left.reshape({shared, heads / shared * rows, left.size(2)});
  return at::matmul(joined, right).view({heads, rows, right.size(2)});
}

at::Tensor SumOfTransposedProducts(Tensor left, Tensor right, int64_t sharedHeads) {
  const auto rows = left.size(0) / sharedHeads * left.size(1);
  return at::matmul(left.reshape({sharedHeads, rows, left.size(2)}).transpose(1, 2),
                    right.reshape({sharedHeads, rows, right.size(2)}));
}

}  // namespace simulator::operators
