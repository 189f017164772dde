// aclnnFlashAttentionScore and its variants. Where no public header declares one (V3, V4, VarLenScoreV5), its
// parameters are those that torch_npu passes.
#include "flash_attention.h"
#include "max_workspace.h"

namespace simulator::operators {
namespace {

Plan AttendForTraining(FlashAttentionInputs inputs, FlashAttentionOptions options,
                       FlashAttentionOutputs outputs) {
  const auto attention = std::make_shared<const FlashAttention>(std::move(inputs), std::move(options));
  attention->CheckResult(outputs.result);
  return [attention, outputs] { attention->Forward(outputs); };
}

bool StatisticsAsInput(const std::string& softmaxLayout) {
  TORCH_CHECK_VALUE(softmaxLayout.empty() || softmaxLayout == "same_as_input", "the softmax layout ",
                    softmaxLayout, " is not known");
  return !softmaxLayout.empty();
}

void CheckWholeSequences(Sizes queryStart, Sizes keyStart) {
  const auto nonzero = [](int64_t start) { return start != 0; };
  TORCH_CHECK_VALUE(std::none_of(queryStart.begin(), queryStart.end(), nonzero) &&
                        std::none_of(keyStart.begin(), keyStart.end(), nonzero),
                    "sequences that do not start at 0 are not implemented");
}

}  // namespace
}  // namespace simulator::operators

ACLNN(FlashAttentionScore,
      Planning([](Tensor query, Tensor key, Tensor value, OptionalTensor shift, OptionalTensor dropMask,
                  OptionalTensor paddingMask, OptionalTensor mask, Sizes prefix, double scale, double keep,
                  int64_t before, int64_t after, int64_t heads, Text layout, int64_t /*innerPrecise*/,
                  int64_t mode, Out largest, Out total, OptionalOut /*softmaxOut, unused by the device*/,
                  Out out) {
        return AttendForTraining(
            {query, key, value, {}, {}, shift, dropMask, paddingMask, mask, {}, prefix, {}, {}},
            {scale, keep, before, after, heads, layout, mode}, {largest, total, out});
      }));
ACLNN(FlashAttentionScoreV2,
      Planning([](Tensor query, Tensor key, Tensor value, OptionalTensor shift, OptionalTensor dropMask,
                  OptionalTensor paddingMask, OptionalTensor mask, Sizes prefix, Sizes queryStart,
                  Sizes keyStart, double scale, double keep, int64_t before, int64_t after, int64_t heads,
                  Text layout, int64_t /*innerPrecise*/, int64_t mode, int64_t shiftType, Out largest,
                  Out total, OptionalOut /*softmaxOut*/, Out out) {
        CheckWholeSequences(queryStart, keyStart);
        return AttendForTraining(
            {query, key, value, {}, {}, shift, dropMask, paddingMask, mask, {}, prefix, {}, {}},
            {scale, keep, before, after, heads, layout, mode, shiftType}, {largest, total, out});
      }));
ACLNN(FlashAttentionScoreV3,
      Planning([](Tensor query, Tensor key, Tensor value, OptionalTensor shift, OptionalTensor dropMask,
                  OptionalTensor paddingMask, OptionalTensor mask, OptionalTensor sink, Sizes prefix,
                  Sizes queryStart, Sizes keyStart, double scale, double keep, int64_t before, int64_t after,
                  int64_t heads, Text layout, int64_t /*innerPrecise*/, int64_t mode, int64_t shiftType,
                  Out largest, Out total, OptionalOut /*softmaxOut*/, Out out) {
        CheckWholeSequences(queryStart, keyStart);
        return AttendForTraining(
            {query, key, value, {}, {}, shift, dropMask, paddingMask, mask, sink, prefix, {}, {}},
            {scale, keep, before, after, heads, layout, mode, shiftType}, {largest, total, out});
      }));
ACLNN(FlashAttentionScoreV4,
      Planning([](Tensor query, Tensor key, Tensor value, OptionalTensor shift, OptionalTensor dropMask,
                  OptionalTensor paddingMask, OptionalTensor mask, OptionalTensor queryRope,
                  OptionalTensor keyRope, OptionalTensor queryScale, OptionalTensor keyScale,
                  OptionalTensor valueScale, OptionalTensor sink, Sizes prefix, Sizes queryEnds,
                  Sizes keyEnds, Sizes queryStart, Sizes keyStart, double scale, double keep, int64_t before,
                  int64_t after, int64_t heads, Text layout, int64_t /*innerPrecise*/, int64_t mode,
                  int64_t outType, int64_t shiftType, Text softmaxLayout, int64_t /*seed*/,
                  int64_t /*offset*/, Out largest, Out total, OptionalOut /*softmaxOut*/, Out out) {
        CheckWholeSequences(queryStart, keyStart);
        TORCH_CHECK_VALUE(!queryScale && !keyScale && !valueScale && outType == 0,
                          "quantised inputs are not implemented");
        return AttendForTraining(
            {query, key, value, queryRope, keyRope, shift, dropMask, paddingMask, mask, sink, prefix,
             queryEnds, keyEnds},
            {scale, keep, before, after, heads, layout, mode, shiftType, StatisticsAsInput(softmaxLayout)},
            {largest, total, out});
      }));
ACLNN(FlashAttentionVarLenScore,
      Planning([](Tensor query, Tensor key, Tensor value, OptionalTensor shift, OptionalTensor dropMask,
                  OptionalTensor paddingMask, OptionalTensor mask, Sizes prefix, Sizes queryEnds,
                  Sizes keyEnds, double scale, double keep, int64_t before, int64_t after, int64_t heads,
                  Text layout, int64_t /*innerPrecise*/, int64_t mode, Out largest, Out total,
                  OptionalOut /*softmaxOut*/, Out out) {
        return AttendForTraining(
            {query, key, value, {}, {}, shift, dropMask, paddingMask, mask, {}, prefix, queryEnds, keyEnds},
            {scale, keep, before, after, heads, layout, mode}, {largest, total, out});
      }));
ACLNN(FlashAttentionVarLenScoreV2,
      Planning([](Tensor query, Tensor key, Tensor value, OptionalTensor shift, OptionalTensor dropMask,
                  OptionalTensor paddingMask, OptionalTensor mask, Sizes prefix, Sizes queryEnds,
                  Sizes keyEnds, Sizes queryStart, Sizes keyStart, double scale, double keep, int64_t before,
                  int64_t after, int64_t heads, Text layout, int64_t /*innerPrecise*/, int64_t mode,
                  int64_t shiftType, Out largest, Out total, OptionalOut /*softmaxOut*/, Out out) {
        CheckWholeSequences(queryStart, keyStart);
        return AttendForTraining(
            {query, key, value, {}, {}, shift, dropMask, paddingMask, mask, {}, prefix, queryEnds, keyEnds},
            {scale, keep, before, after, heads, layout, mode, shiftType}, {largest, total, out});
      }));
ACLNN(FlashAttentionVarLenScoreV3,
      Planning([](Tensor query, OptionalTensor queryRope, Tensor key, OptionalTensor keyRope, Tensor value,
                  OptionalTensor shift, OptionalTensor dropMask, OptionalTensor paddingMask,
                  OptionalTensor mask, Sizes prefix, Sizes queryEnds, Sizes keyEnds, Sizes queryStart,
                  Sizes keyStart, double scale, double keep, int64_t before, int64_t after, int64_t heads,
                  Text layout, int64_t /*innerPrecise*/, int64_t mode, int64_t shiftType, Out largest,
                  Out total, OptionalOut /*softmaxOut*/, Out out) {
        CheckWholeSequences(queryStart, keyStart);
        return AttendForTraining({query,
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
                                 {scale, keep, before, after, heads, layout, mode, shiftType},
                                 {largest, total, out});
      }));
ACLNN(FlashAttentionVarLenScoreV4,
      Planning([](Tensor query, Tensor key, Tensor value, OptionalTensor shift, OptionalTensor dropMask,
                  OptionalTensor paddingMask, OptionalTensor mask, Sizes prefix, Sizes queryEnds,
                  Sizes keyEnds, double scale, double keep, int64_t before, int64_t after, int64_t heads,
                  Text layout, int64_t /*innerPrecise*/, int64_t mode, Text softmaxLayout, Out largest,
                  Out total, OptionalOut /*softmaxOut*/, Out out) {
        return AttendForTraining(
            {query, key, value, {}, {}, shift, dropMask, paddingMask, mask, {}, prefix, queryEnds, keyEnds},
            {scale, keep, before, after, heads, layout, mode, 1, StatisticsAsInput(softmaxLayout)},
            {largest, total, out});
      }));
ACLNN(FlashAttentionVarLenScoreV5,
      Planning([](Tensor query, OptionalTensor queryRope, Tensor key, OptionalTensor keyRope, Tensor value,
                  OptionalTensor shift, OptionalTensor dropMask, OptionalTensor paddingMask,
                  OptionalTensor mask, OptionalTensor sink, Sizes prefix, Sizes queryEnds, Sizes keyEnds,
                  Sizes queryStart, Sizes keyStart, double scale, double keep, int64_t before, int64_t after,
                  int64_t heads, Text layout, int64_t /*innerPrecise*/, int64_t mode, int64_t shiftType,
                  Text softmaxLayout, Out largest, Out total, OptionalOut /*softmaxOut*/, Out out) {
        CheckWholeSequences(queryStart, keyStart);
        return AttendForTraining(
            {query, key, value, queryRope, keyRope, shift, dropMask, paddingMask, mask, sink, prefix,
             queryEnds, keyEnds},
            {scale, keep, before, after, heads, layout, mode, shiftType, StatisticsAsInput(softmaxLayout)},
            {largest, total, out});
      }));

ACLNN_MAX_WORKSPACE(FlashAttentionVarLenScoreV5);
