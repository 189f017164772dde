#pragma once

#include "attention.h"

namespace simulator::operators {

// Attention for training: what aclnnFlashAttentionScore and its variants are given.
struct FlashAttentionInputs {
  at::Tensor query, key, value;
  std::optional<at::Tensor> queryRope, keyRope;  // further features, without a part in the value
  std::optional<at::Tensor> shift;               // pse: a bias of the scores
  std::optional<at::Tensor> dropMask, paddingMask, mask, sink;
  std::vector<int64_t> prefix, queryEnds, keyEnds;
};

struct FlashAttentionOptions {
  double scale, keepProbability;
  int64_t before, after, heads;
  std::string layout;
  int64_t sparseMode;
  int64_t shiftType = 1;
  bool statisticsAsInput = false;  // TND only: rows before heads
};

struct FlashAttentionOutputs {
  at::Tensor largest, total, result;
};

// What the forward computation left for the gradient.
struct FlashAttentionSaved {
  at::Tensor gradOutput;
  std::optional<at::Tensor> largest, total, result;
};

struct FlashAttentionGradients {
  at::Tensor query, key, value;
  std::optional<at::Tensor> queryRope, keyRope, shift, sink;
};

// The constructor refuses what is not implemented and what does not fit together.
class FlashAttention {
 public:
  FlashAttention(FlashAttentionInputs inputs, FlashAttentionOptions options);

  void CheckResult(Tensor result) const;
  void Forward(const FlashAttentionOutputs& outputs) const;
  void Backward(const FlashAttentionSaved& saved, const FlashAttentionGradients& gradients) const;

 private:
  struct Sequence;
  struct SequenceGradients;

  std::vector<at::Tensor> Statistics(Tensor statistic) const;
  Sequence Load(size_t index) const;
  at::Tensor ShiftOf(size_t index, const Sequence& sequence) const;
  std::optional<at::Tensor> KeptOf(size_t index, const Sequence& sequence) const;
  SoftmaxRows Restored(const Sequence& sequence, const std::optional<at::Tensor>& largest,
                       const std::optional<at::Tensor>& total) const;
  SequenceGradients Differentiate(const Sequence& sequence, const SoftmaxRows& softmax, Tensor outGrad,
                                  const std::optional<at::Tensor>& out) const;

  FlashAttentionInputs inputs_;
  FlashAttentionOptions options_;
  int64_t sharedHeads_;
  std::vector<at::Tensor> queries_, keys_, values_, queryRopes_, keyRopes_;
  std::vector<int64_t> scoresBefore_;  // of all sequences before one
  Masking masking_;
};

}  // namespace simulator::operators
