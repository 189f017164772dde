// aclnnFusedInferAttentionScore, aclnnPromptFlashAttention and aclnnIncreFlashAttention.
#include "inference_attention.h"
#include "max_workspace.h"

namespace simulator::operators {
namespace {

std::optional<at::Tensor> NotEmpty(OptionalTensor tensor) {
  return tensor && tensor->numel() > 0 ? tensor : std::nullopt;
}

// What of the many options none of the operators here can do.
void CheckWithout(std::initializer_list<const std::optional<at::Tensor>*> tensors, const char* what) {
  for (const auto* tensor : tensors) TORCH_CHECK_VALUE(!NotEmpty(*tensor), what, " is not implemented");
}

// The older options put the scales of keys and values into one tensor.
CacheScales ScalesOf(OptionalTensor both, OptionalTensor bothOffsets, int64_t bothMode, int64_t place,
                     OptionalTensor own, OptionalTensor ownOffset, int64_t ownMode) {
  if (NotEmpty(own)) return {own, NotEmpty(ownOffset), ownMode};
  if (!NotEmpty(both)) return {};
  const auto part = [&](Tensor tensor) { return tensor.select(0, place); };
  return {part(*both), NotEmpty(bothOffsets) ? std::optional(part(*bothOffsets)) : std::nullopt, bothMode};
}

Plan AttendForInference(InferenceInputs inputs, InferenceOptions options, Tensor result,
                        OptionalTensor logSums) {
  const auto attention = std::make_shared<const InferenceAttention>(std::move(inputs), std::move(options));
  attention->CheckFits(result);
  return [=] { attention->Run(result, logSums); };
}

struct FusedQuantisation {
  std::optional<at::Tensor> scoresScale, weightsScale, weightsDequant, resultScale, resultOffset;
  std::optional<at::Tensor> antiquantScale, antiquantOffset, keyScale, keyOffset, valueScale, valueOffset;
  int64_t mode, keyMode, valueMode;
};

struct FusedExtras {
  std::optional<at::Tensor> queryPadding, keyPadding, keyPrefix, valuePrefix;
};

Plan FusedInference(InferenceInputs inputs, const FusedQuantisation& quantisation, const FusedExtras& extras,
                    InferenceOptions options, bool wantsLogSums, Tensor result, OptionalTensor logSums) {
  CheckWithout({&quantisation.scoresScale, &quantisation.weightsScale, &quantisation.weightsDequant},
               "a product of quantised queries and keys");
  CheckWithout({&extras.queryPadding, &extras.keyPadding}, "padding on the left");
  CheckWithout({&extras.keyPrefix, &extras.valuePrefix}, "a shared prefix");
  inputs.keyScales = ScalesOf(quantisation.antiquantScale, quantisation.antiquantOffset, quantisation.mode, 0,
                              quantisation.keyScale, quantisation.keyOffset, quantisation.keyMode);
  inputs.valueScales = ScalesOf(quantisation.antiquantScale, quantisation.antiquantOffset, quantisation.mode,
                                1, quantisation.valueScale, quantisation.valueOffset, quantisation.valueMode);
  inputs.resultScale = NotEmpty(quantisation.resultScale);
  inputs.resultOffset = NotEmpty(quantisation.resultOffset);
  return AttendForInference(std::move(inputs), std::move(options), result,
                            wantsLogSums ? logSums : std::nullopt);
}

}  // namespace
}  // namespace simulator::operators

ACLNN(
    FusedInferAttentionScoreV2,
    Planning([](Tensor query, Tensors key, Tensors value, OptionalTensor shift, OptionalTensor mask,
                Sizes queryLengths, Sizes keyLengths, OptionalTensor scoresScale, OptionalTensor weightsScale,
                OptionalTensor weightsDequant, OptionalTensor resultScale, OptionalTensor resultOffset,
                OptionalTensor antiquantScale, OptionalTensor antiquantOffset, OptionalTensor blockTable,
                OptionalTensor queryPadding, OptionalTensor keyPadding, OptionalTensor keyScale,
                OptionalTensor keyOffset, OptionalTensor valueScale, OptionalTensor valueOffset,
                OptionalTensor keyPrefix, OptionalTensor valuePrefix, Sizes /*prefixLength*/, int64_t heads,
                double scale, int64_t before, int64_t after, Text layout, int64_t sharedHeads, int64_t mode,
                int64_t /*innerPrecise*/, int64_t /*blockSize, told by the cache*/, int64_t antiquantMode,
                bool wantsLogSums, int64_t keyMode, int64_t valueMode, Out result, OptionalOut logSums) {
      return FusedInference(
          {query, key, value, shift, mask, blockTable, {}, {}, {}, {}, {}, {}, {}, queryLengths, keyLengths},
          {scoresScale, weightsScale, weightsDequant, resultScale, resultOffset, antiquantScale,
           antiquantOffset, keyScale, keyOffset, valueScale, valueOffset, antiquantMode, keyMode, valueMode},
          {queryPadding, keyPadding, keyPrefix, valuePrefix},
          {heads, sharedHeads, scale, before, after, layout, mode}, wantsLogSums, result, logSums);
    }));
ACLNN(FusedInferAttentionScoreV3,
      Planning([](Tensor query, Tensors key, Tensors value, OptionalTensor shift, OptionalTensor mask,
                  Sizes queryLengths, Sizes keyLengths, OptionalTensor scoresScale,
                  OptionalTensor weightsScale, OptionalTensor weightsDequant, OptionalTensor resultScale,
                  OptionalTensor resultOffset, OptionalTensor antiquantScale, OptionalTensor antiquantOffset,
                  OptionalTensor blockTable, OptionalTensor queryPadding, OptionalTensor keyPadding,
                  OptionalTensor keyScale, OptionalTensor keyOffset, OptionalTensor valueScale,
                  OptionalTensor valueOffset, OptionalTensor keyPrefix, OptionalTensor valuePrefix,
                  Sizes /*prefixLength*/, OptionalTensor queryRope, OptionalTensor keyRope,
                  OptionalTensor keyRopeScale, int64_t heads, double scale, int64_t before, int64_t after,
                  Text layout, int64_t sharedHeads, int64_t mode, int64_t /*innerPrecise*/,
                  int64_t /*blockSize*/, int64_t antiquantMode, bool wantsLogSums, int64_t keyMode,
                  int64_t valueMode, Out result, OptionalOut logSums) {
        CheckWithout({&keyRopeScale}, "a quantised rope part");
        return FusedInference({query,
                               key,
                               value,
                               shift,
                               mask,
                               blockTable,
                               queryRope,
                               keyRope,
                               {},
                               {},
                               {},
                               {},
                               {},
                               queryLengths,
                               keyLengths},
                              {scoresScale, weightsScale, weightsDequant, resultScale, resultOffset,
                               antiquantScale, antiquantOffset, keyScale, keyOffset, valueScale, valueOffset,
                               antiquantMode, keyMode, valueMode},
                              {queryPadding, keyPadding, keyPrefix, valuePrefix},
                              {heads, sharedHeads, scale, before, after, layout, mode}, wantsLogSums, result,
                              logSums);
      }));
ACLNN(FusedInferAttentionScoreV4,
      Planning([](Tensor query, Tensors key, Tensors value, OptionalTensor shift, OptionalTensor mask,
                  Sizes queryLengths, Sizes keyLengths, OptionalTensor scoresScale,
                  OptionalTensor weightsScale, OptionalTensor weightsDequant, OptionalTensor resultScale,
                  OptionalTensor resultOffset, OptionalTensor antiquantScale, OptionalTensor antiquantOffset,
                  OptionalTensor blockTable, OptionalTensor queryPadding, OptionalTensor keyPadding,
                  OptionalTensor keyScale, OptionalTensor keyOffset, OptionalTensor valueScale,
                  OptionalTensor valueOffset, OptionalTensor keyPrefix, OptionalTensor valuePrefix,
                  Sizes /*prefixLength*/, OptionalTensor queryRope, OptionalTensor keyRope,
                  OptionalTensor keyRopeScale, OptionalTensor queryScale, OptionalTensor sink, int64_t heads,
                  double scale, int64_t before, int64_t after, Text layout, int64_t sharedHeads, int64_t mode,
                  int64_t /*innerPrecise*/, int64_t /*blockSize*/, int64_t antiquantMode, bool wantsLogSums,
                  int64_t keyMode, int64_t valueMode, int64_t /*queryMode*/, Out result,
                  OptionalOut logSums) {
        CheckWithout({&keyRopeScale, &queryScale}, "a quantised query or rope part");
        return FusedInference({query,
                               key,
                               value,
                               shift,
                               mask,
                               blockTable,
                               queryRope,
                               keyRope,
                               NotEmpty(sink),
                               {},
                               {},
                               {},
                               {},
                               queryLengths,
                               keyLengths},
                              {scoresScale, weightsScale, weightsDequant, resultScale, resultOffset,
                               antiquantScale, antiquantOffset, keyScale, keyOffset, valueScale, valueOffset,
                               antiquantMode, keyMode, valueMode},
                              {queryPadding, keyPadding, keyPrefix, valuePrefix},
                              {heads, sharedHeads, scale, before, after, layout, mode}, wantsLogSums, result,
                              logSums);
      }));
// No public header declares the fifth version: its parameters are those that torch_npu passes.
ACLNN(FusedInferAttentionScoreV5,
      Planning([](Tensor query, Tensors key, Tensors value, OptionalTensor shift, OptionalTensor mask,
                  Sizes queryLengths, Sizes keyLengths, OptionalTensor scoresScale,
                  OptionalTensor weightsScale, OptionalTensor weightsDequant, OptionalTensor resultScale,
                  OptionalTensor resultOffset, OptionalTensor antiquantScale, OptionalTensor antiquantOffset,
                  OptionalTensor blockTable, OptionalTensor queryPadding, OptionalTensor keyPadding,
                  OptionalTensor keyScale, OptionalTensor keyOffset, OptionalTensor valueScale,
                  OptionalTensor valueOffset, OptionalTensor keyPrefix, OptionalTensor valuePrefix,
                  Sizes /*prefixLength*/, OptionalTensor queryRope, OptionalTensor keyRope,
                  OptionalTensor keyRopeScale, OptionalTensor queryScale, OptionalTensor sink,
                  OptionalTensor queryStart, OptionalTensor keyStart, int64_t heads, double scale,
                  int64_t before, int64_t after, Text layout, int64_t sharedHeads, int64_t mode,
                  int64_t /*innerPrecise*/, int64_t /*blockSize*/, int64_t antiquantMode, bool wantsLogSums,
                  int64_t keyMode, int64_t valueMode, int64_t /*queryMode*/, int64_t shiftType, Out result,
                  OptionalOut logSums) {
        CheckWithout({&keyRopeScale, &queryScale}, "a quantised query or rope part");
        CheckWithout({&queryStart, &keyStart}, "a sequence that does not start at 0");
        TORCH_CHECK_VALUE(shiftType == 0, "pseType ", shiftType, " is not implemented");
        return FusedInference({query,
                               key,
                               value,
                               shift,
                               mask,
                               blockTable,
                               queryRope,
                               keyRope,
                               NotEmpty(sink),
                               {},
                               {},
                               {},
                               {},
                               queryLengths,
                               keyLengths},
                              {scoresScale, weightsScale, weightsDequant, resultScale, resultOffset,
                               antiquantScale, antiquantOffset, keyScale, keyOffset, valueScale, valueOffset,
                               antiquantMode, keyMode, valueMode},
                              {queryPadding, keyPadding, keyPrefix, valuePrefix},
                              {heads, sharedHeads, scale, before, after, layout, mode}, wantsLogSums, result,
                              logSums);
      }));
ACLNN(PromptFlashAttentionV3,
      Planning([](Tensor query, Tensor key, Tensor value, OptionalTensor shift, OptionalTensor mask,
                  Sizes queryLengths, Sizes keyLengths, OptionalTensor scoresScale,
                  OptionalTensor weightsScale, OptionalTensor weightsDequant, OptionalTensor resultScale,
                  OptionalTensor resultOffset, int64_t heads, double scale, int64_t before, int64_t after,
                  Text layout, int64_t sharedHeads, int64_t mode, int64_t /*innerPrecise*/, Out result) {
        return FusedInference(
            {query, {key}, {value}, shift, mask, {}, {}, {}, {}, {}, {}, {}, {}, queryLengths, keyLengths},
            {scoresScale,
             weightsScale,
             weightsDequant,
             resultScale,
             resultOffset,
             {},
             {},
             {},
             {},
             {},
             {},
             0,
             0,
             0},
            {}, {heads, sharedHeads, scale, before, after, layout, mode}, false, result, std::nullopt);
      }));
ACLNN(IncreFlashAttentionV4,
      Planning([](Tensor query, Tensors key, Tensors value, OptionalTensor shift, OptionalTensor mask,
                  Sizes keyLengths, OptionalTensor scoresScale, OptionalTensor weightsScale,
                  OptionalTensor weightsDequant, OptionalTensor resultScale, OptionalTensor resultOffset,
                  OptionalTensor antiquantScale, OptionalTensor antiquantOffset, OptionalTensor blockTable,
                  OptionalTensor keyPadding, int64_t heads, double scale, Text layout, int64_t sharedHeads,
                  int64_t /*blockSize*/, int64_t /*innerPrecise*/, Out result) {
        return FusedInference(
            {query, key, value, shift, mask, blockTable, {}, {}, {}, {}, {}, {}, {}, {}, keyLengths},
            {scoresScale,
             weightsScale,
             weightsDequant,
             resultScale,
             resultOffset,
             antiquantScale,
             antiquantOffset,
             {},
             {},
             {},
             {},
             0,
             0,
             0},
            {{}, keyPadding, {}, {}}, {heads, sharedHeads, scale, 0, 0, layout, 0}, false, result,
            std::nullopt);
      }));

ACLNN_MAX_WORKSPACE(FusedInferAttentionScoreV3);
ACLNN_MAX_WORKSPACE(FusedInferAttentionScoreV4);
ACLNN_MAX_WORKSPACE(FusedInferAttentionScoreV5);
