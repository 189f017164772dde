#pragma once

#include "attention.h"

namespace simulator::operators {

// How cached keys or values become numbers: (cached + offset) * scale.
struct CacheScales {
  std::optional<at::Tensor> scale, offset;
  int64_t mode = 0;  // 0 a channel or the whole tensor, 1 a token
};

// Attention for inference: what the fused, prompt and incremental operators are given.
struct InferenceInputs {
  at::Tensor query;
  std::vector<at::Tensor> key, value;  // one tensor for all batches, or one a batch
  std::optional<at::Tensor> shift, mask, blockTable, queryRope, keyRope, sink;
  CacheScales keyScales, valueScales;
  std::optional<at::Tensor> resultScale, resultOffset;  // of a result in int8
  std::vector<int64_t> queryLengths, keyLengths;
};

struct InferenceOptions {
  int64_t heads, sharedHeads;
  double scale;
  int64_t before, after;
  std::string layout;  // of the input, then of the result after an underscore if that differs
  int64_t sparseMode;
};

// The constructor refuses what is not implemented and what does not fit together.
class InferenceAttention {
 public:
  InferenceAttention(InferenceInputs inputs, InferenceOptions options);

  // Refuses a result, or keys and values, that do not fit the query.
  void CheckFits(Tensor result) const;

  void Run(Tensor result, const std::optional<at::Tensor>& logSums) const;

 private:
  bool Paged() const { return inputs_.blockTable.has_value(); }
  at::Tensor Cached(const std::vector<at::Tensor>& cache, size_t batch, int64_t length) const;
  at::Tensor PagedRows(Tensor cache, size_t batch, int64_t length) const;
  int64_t KeyLength(size_t batch) const;
  int64_t QueryLength(size_t batch) const;
  void AttendTo(size_t batch, Tensor result, const std::optional<at::Tensor>& logSums) const;

  InferenceInputs inputs_;
  InferenceOptions options_;
  std::string inputLayout_, resultLayout_;
  std::vector<at::Tensor> queries_, queryRopes_;
  Masking masking_;
};

}  // namespace simulator::operators
