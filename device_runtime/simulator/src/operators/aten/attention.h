#pragma once

#include <optional>
#include <string>
#include <vector>

#include "arguments.h"

// What all attention operators have in common. They differ in how batches are laid out in memory, so each is
// computed sequence by sequence: tensors of heads, rows and features, in float.
namespace simulator::operators {

// Views of each batch element as heads, rows, features. `heads` is needed where a layout joins heads and
// features, the `ends` of the sequences where it joins batch and rows (TND).
std::vector<at::Tensor> SplitSequences(Tensor tensor, const std::string& layout, int64_t heads,
                                       const std::vector<int64_t>& ends);

// The features of each of `heads` heads.
int64_t HeadFeatures(Tensor tensor, const std::string& layout, int64_t heads);

// Which keys a query must not see.
struct Masking {
  std::optional<at::Tensor> mask;
  int64_t mode = 0;                  // sparseMode of the aclnn interface
  int64_t before = 0;                // preTokens
  int64_t after = 0;                 // nextTokens
  std::vector<int64_t> prefix = {};  // for modes 5 and 6: the columns that all rows see, of each sequence
  std::optional<size_t> cut = {};    // for modes 7 and 8: the sequence that was cut
};

// Refuses what MaskedOut cannot do.
void CheckMasking(const Masking& masking);

// True where a key is masked out, of a shape that broadcasts to heads, rows and columns; nothing if all keys
// are seen.
std::optional<at::Tensor> MaskedOut(const Masking& masking, size_t sequence, int64_t rows, int64_t columns);

// A softmax over the last dimension with its statistics, whose last dimension is 1. A row that is masked out
// altogether has the weights 0.
struct SoftmaxRows {
  at::Tensor weights, largest, total;
};

SoftmaxRows SoftmaxOf(Tensor scores, const std::optional<at::Tensor>& masked,
                      const std::optional<at::Tensor>& sink);

// Products of heads that share heads of the right operand: (heads, rows, n) by (shared heads, n, m).
at::Tensor SharedProduct(Tensor left, Tensor right);

// left transposed by right, (heads, rows, n) and (heads, rows, m), summed over the heads that share one.
at::Tensor SumOfTransposedProducts(Tensor left, Tensor right, int64_t sharedHeads);

}  // namespace simulator::operators
