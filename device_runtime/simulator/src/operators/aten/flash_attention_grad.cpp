// The gradients of aclnnFlashAttentionScore and its variants. Where no public header declares one (GradV3,
// GradV4, UnpaddingScoreGradV5), its parameters are those that torch_npu passes.
#include "checks.h"
#include "flash_attention.h"
#include "max_workspace.h"

namespace simulator::operators {
namespace {

Plan DifferentiateAttention(FlashAttentionInputs inputs, FlashAttentionOptions options,
                            FlashAttentionSaved saved, FlashAttentionGradients gradients) {
  CheckSameShape(inputs.query, gradients.query);
  CheckSameShape(inputs.key, gradients.key);
  CheckSameShape(inputs.value, gradients.value);
  const auto attention = std::make_shared<const FlashAttention>(std::move(inputs), std::move(options));
  attention->CheckResult(saved.gradOutput);
  return [=] { attention->Backward(saved, gradients); };
}

bool SavedAsInput(const std::string& softmaxLayout) {
  TORCH_CHECK_VALUE(softmaxLayout.empty() || softmaxLayout == "same_as_input", "the softmax layout ",
                    softmaxLayout, " is not known");
  return !softmaxLayout.empty();
}

void CheckStartsAtZero(Sizes queryStart, Sizes keyStart) {
  for (const auto& starts : {queryStart, keyStart}) {
    for (const auto start : starts) {
      TORCH_CHECK_VALUE(start == 0, "a sequence that starts at ", start, " is not implemented");
    }
  }
}

}  // namespace
}  // namespace simulator::operators

ACLNN(FlashAttentionScoreGrad,
      Planning([](Tensor query, Tensor key, Tensor value, Tensor gradOutput, OptionalTensor shift,
                  OptionalTensor dropMask, OptionalTensor paddingMask, OptionalTensor mask,
                  OptionalTensor largest, OptionalTensor total, OptionalTensor /*softmaxIn*/,
                  OptionalTensor out, Sizes prefix, double scale, double keep, int64_t before, int64_t after,
                  int64_t heads, Text layout, int64_t /*innerPrecise*/, int64_t mode, Out gradQuery,
                  Out gradKey, Out gradValue, OptionalOut gradShift) {
        return DifferentiateAttention(
            {query, key, value, {}, {}, shift, dropMask, paddingMask, mask, {}, prefix, {}, {}},
            {scale, keep, before, after, heads, layout, mode}, {gradOutput, largest, total, out},
            {gradQuery, gradKey, gradValue, {}, {}, gradShift, {}});
      }));
ACLNN(FlashAttentionScoreGradV2,
      Planning([](Tensor query, Tensor key, Tensor value, Tensor gradOutput, OptionalTensor shift,
                  OptionalTensor dropMask, OptionalTensor paddingMask, OptionalTensor mask,
                  OptionalTensor largest, OptionalTensor total, OptionalTensor /*softmaxIn*/,
                  OptionalTensor out, Sizes prefix, Sizes queryStart, Sizes keyStart, double scale,
                  double keep, int64_t before, int64_t after, int64_t heads, Text layout,
                  int64_t /*innerPrecise*/, int64_t mode, int64_t shiftType, Out gradQuery, Out gradKey,
                  Out gradValue, OptionalOut gradShift) {
        CheckStartsAtZero(queryStart, keyStart);
        return DifferentiateAttention(
            {query, key, value, {}, {}, shift, dropMask, paddingMask, mask, {}, prefix, {}, {}},
            {scale, keep, before, after, heads, layout, mode, shiftType}, {gradOutput, largest, total, out},
            {gradQuery, gradKey, gradValue, {}, {}, gradShift, {}});
      }));
ACLNN(FlashAttentionScoreGradV3,
      Planning([](Tensor query, Tensor key, Tensor value, Tensor gradOutput, OptionalTensor shift,
                  OptionalTensor dropMask, OptionalTensor paddingMask, OptionalTensor mask,
                  OptionalTensor largest, OptionalTensor total, OptionalTensor /*softmaxIn*/,
                  OptionalTensor out, OptionalTensor sink, Sizes prefix, Sizes queryStart, Sizes keyStart,
                  double scale, double keep, int64_t before, int64_t after, int64_t heads, Text layout,
                  int64_t /*innerPrecise*/, int64_t mode, int64_t shiftType, Out gradQuery, Out gradKey,
                  Out gradValue, OptionalOut gradShift, OptionalOut gradSink) {
        CheckStartsAtZero(queryStart, keyStart);
        return DifferentiateAttention(
            {query, key, value, {}, {}, shift, dropMask, paddingMask, mask, sink, prefix, {}, {}},
            {scale, keep, before, after, heads, layout, mode, shiftType}, {gradOutput, largest, total, out},
            {gradQuery, gradKey, gradValue, {}, {}, gradShift, gradSink});
      }));
ACLNN(FlashAttentionScoreGradV4,
      Planning([](Tensor query, Tensor key, Tensor value, Tensor gradOutput, OptionalTensor shift,
                  OptionalTensor dropMask, OptionalTensor paddingMask, OptionalTensor mask,
                  OptionalTensor largest, OptionalTensor total, OptionalTensor /*softmaxIn*/,
                  OptionalTensor out, OptionalTensor sink, OptionalTensor queryRope, OptionalTensor keyRope,
                  OptionalTensor queryScale, OptionalTensor keyScale, OptionalTensor valueScale,
                  OptionalTensor gradScale, OptionalTensor outScale, Sizes prefix, Sizes queryEnds,
                  Sizes keyEnds, Sizes queryStart, Sizes keyStart, double scale, double keep, int64_t before,
                  int64_t after, int64_t heads, Text layout, Text softmaxLayout, int64_t /*innerPrecise*/,
                  int64_t mode, int64_t shiftType, int64_t /*seed*/, int64_t /*offset*/, int64_t outType,
                  Out gradQuery, Out gradKey, Out gradValue, OptionalOut gradQueryRope,
                  OptionalOut gradKeyRope, OptionalOut gradShift, OptionalOut gradSink) {
        CheckStartsAtZero(queryStart, keyStart);
        TORCH_CHECK_VALUE(!queryScale && !keyScale && !valueScale && !gradScale && !outScale && outType == 0,
                          "quantised inputs are not implemented");
        return DifferentiateAttention(
            {query, key, value, queryRope, keyRope, shift, dropMask, paddingMask, mask, sink, prefix,
             queryEnds, keyEnds},
            {scale, keep, before, after, heads, layout, mode, shiftType, SavedAsInput(softmaxLayout)},
            {gradOutput, largest, total, out},
            {gradQuery, gradKey, gradValue, gradQueryRope, gradKeyRope, gradShift, gradSink});
      }));
ACLNN(FlashAttentionUnpaddingScoreGrad,
      Planning([](Tensor query, Tensor key, Tensor value, Tensor gradOutput, OptionalTensor shift,
                  OptionalTensor dropMask, OptionalTensor paddingMask, OptionalTensor mask,
                  OptionalTensor largest, OptionalTensor total, OptionalTensor /*softmaxIn*/,
                  OptionalTensor out, Sizes prefix, Sizes queryEnds, Sizes keyEnds, double scale, double keep,
                  int64_t before, int64_t after, int64_t heads, Text layout, int64_t /*innerPrecise*/,
                  int64_t mode, Out gradQuery, Out gradKey, Out gradValue, OptionalOut gradShift) {
        return DifferentiateAttention(
            {query, key, value, {}, {}, shift, dropMask, paddingMask, mask, {}, prefix, queryEnds, keyEnds},
            {scale, keep, before, after, heads, layout, mode}, {gradOutput, largest, total, out},
            {gradQuery, gradKey, gradValue, {}, {}, gradShift, {}});
      }));
ACLNN(FlashAttentionUnpaddingScoreGradV2,
      Planning([](Tensor query, Tensor key, Tensor value, Tensor gradOutput, OptionalTensor shift,
                  OptionalTensor dropMask, OptionalTensor paddingMask, OptionalTensor mask,
                  OptionalTensor largest, OptionalTensor total, OptionalTensor /*softmaxIn*/,
                  OptionalTensor out, Sizes prefix, Sizes queryEnds, Sizes keyEnds, Sizes queryStart,
                  Sizes keyStart, double scale, double keep, int64_t before, int64_t after, int64_t heads,
                  Text layout, int64_t /*innerPrecise*/, int64_t mode, int64_t shiftType, Out gradQuery,
                  Out gradKey, Out gradValue, OptionalOut gradShift) {
        CheckStartsAtZero(queryStart, keyStart);
        return DifferentiateAttention(
            {query, key, value, {}, {}, shift, dropMask, paddingMask, mask, {}, prefix, queryEnds, keyEnds},
            {scale, keep, before, after, heads, layout, mode, shiftType}, {gradOutput, largest, total, out},
            {gradQuery, gradKey, gradValue, {}, {}, gradShift, {}});
      }));
ACLNN(FlashAttentionUnpaddingScoreGradV3,
      Planning([](Tensor query, OptionalTensor queryRope, Tensor key, OptionalTensor keyRope, Tensor value,
                  Tensor gradOutput, OptionalTensor shift, OptionalTensor dropMask,
                  OptionalTensor paddingMask, OptionalTensor mask, OptionalTensor largest,
                  OptionalTensor total, OptionalTensor /*softmaxIn*/, OptionalTensor out, Sizes prefix,
                  Sizes queryEnds, Sizes keyEnds, Sizes queryStart, Sizes keyStart, double scale, double keep,
                  int64_t before, int64_t after, int64_t heads, Text layout, int64_t /*innerPrecise*/,
                  int64_t mode, int64_t shiftType, Out gradQuery, OptionalOut gradQueryRope, Out gradKey,
                  OptionalOut gradKeyRope, Out gradValue, OptionalOut gradShift) {
        CheckStartsAtZero(queryStart, keyStart);
        return DifferentiateAttention(
            {query,
             key,
             value,
             queryRope,
             keyRope,
             shift,
             dropMask,
             paddingMask,
             mask,
             {},
             prefix,
             queryEnds,
             keyEnds},
            {scale, keep, before, after, heads, layout, mode, shiftType}, {gradOutput, largest, total, out},
            {gradQuery, gradKey, gradValue, gradQueryRope, gradKeyRope, gradShift, {}});
      }));
ACLNN(FlashAttentionUnpaddingScoreGradV4,
      Planning([](Tensor query, Tensor key, Tensor value, Tensor gradOutput, OptionalTensor shift,
                  OptionalTensor dropMask, OptionalTensor paddingMask, OptionalTensor mask,
                  OptionalTensor largest, OptionalTensor total, OptionalTensor /*softmaxIn*/,
                  OptionalTensor out, Sizes prefix, Sizes queryEnds, Sizes keyEnds, double scale, double keep,
                  int64_t before, int64_t after, int64_t heads, Text layout, int64_t /*innerPrecise*/,
                  int64_t mode, Out gradQuery, Out gradKey, Out gradValue, OptionalOut gradShift,
                  Text softmaxLayout) {
        return DifferentiateAttention(
            {query, key, value, {}, {}, shift, dropMask, paddingMask, mask, {}, prefix, queryEnds, keyEnds},
            {scale, keep, before, after, heads, layout, mode, 1, SavedAsInput(softmaxLayout)},
            {gradOutput, largest, total, out}, {gradQuery, gradKey, gradValue, {}, {}, gradShift, {}});
      }));
ACLNN(FlashAttentionUnpaddingScoreGradV5,
      Planning([](Tensor query, OptionalTensor queryRope, Tensor key, OptionalTensor keyRope, Tensor value,
                  Tensor gradOutput, OptionalTensor shift, OptionalTensor dropMask,
                  OptionalTensor paddingMask, OptionalTensor mask, OptionalTensor largest,
                  OptionalTensor total, OptionalTensor /*softmaxIn*/, OptionalTensor out, OptionalTensor sink,
                  Sizes prefix, Sizes queryEnds, Sizes keyEnds, Sizes queryStart, Sizes keyStart,
                  double scale, double keep, int64_t before, int64_t after, int64_t heads, Text layout,
                  int64_t /*innerPrecise*/, int64_t mode, int64_t shiftType, Text softmaxLayout,
                  Out gradQuery, OptionalOut gradQueryRope, Out gradKey, OptionalOut gradKeyRope,
                  Out gradValue, OptionalOut gradShift, OptionalOut gradSink) {
        CheckStartsAtZero(queryStart, keyStart);
        return DifferentiateAttention(
            {query, key, value, queryRope, keyRope, shift, dropMask, paddingMask, mask, sink, prefix,
             queryEnds, keyEnds},
            {scale, keep, before, after, heads, layout, mode, shiftType, SavedAsInput(softmaxLayout)},
            {gradOutput, largest, total, out},
            {gradQuery, gradKey, gradValue, gradQueryRope, gradKeyRope, gradShift, gradSink});
      }));

ACLNN_MAX_WORKSPACE(FlashAttentionUnpaddingScoreGradV5);
