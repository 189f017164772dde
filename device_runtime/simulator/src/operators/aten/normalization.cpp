// Batch, layer and group normalisation. Half precision is computed in float, as on the
// device.
#include "binding.h"
#include "store.h"

namespace simulator::operators {
namespace {

std::array<bool, 3> Three(Flags flags) {
  TORCH_CHECK_VALUE(flags.size() == 3, "the output mask has ", flags.size(), " values, not 3");
  return {flags[0] != 0, flags[1] != 0, flags[2] != 0};
}

void StoreThree(const std::tuple<at::Tensor, at::Tensor, at::Tensor>& results,
                const std::array<bool, 3>& wanted, OptionalOut first, OptionalOut second, OptionalOut third) {
  if (wanted[0]) Store(first, std::get<0>(results));
  if (wanted[1]) Store(second, std::get<1>(results));
  if (wanted[2]) Store(third, std::get<2>(results));
}

void LayerNorm(Tensor input, Sizes normalizedShape, OptionalTensor weight, OptionalTensor bias, double eps,
               Out out, OptionalOut mean, OptionalOut rstd) {
  const auto [result, resultMean, resultRstd] =
      at::native_layer_norm(Widened(input), normalizedShape, Widened(weight), Widened(bias), eps);
  Store(out, result);
  Store(mean, resultMean);
  Store(rstd, resultRstd);
}

}  // namespace
}  // namespace simulator::operators

ACLNN(LayerNorm, LayerNorm);
ACLNN(FastLayerNorm, LayerNorm);
ACLNN(LayerNormBackward, [](Tensor gradOutput, Tensor input, Sizes normalizedShape, Tensor mean, Tensor rstd,
                            OptionalTensor weight, OptionalTensor bias, Flags outputMask,
                            OptionalOut gradInput, OptionalOut gradWeight, OptionalOut gradBias) {
  const auto wanted = Three(outputMask);
  StoreThree(
      at::native_layer_norm_backward(Widened(gradOutput), Widened(input), normalizedShape, Widened(mean),
                                     Widened(rstd), Widened(weight), Widened(bias), wanted),
      wanted, gradInput, gradWeight, gradBias);
});

ACLNN(GroupNorm, [](Tensor self, OptionalTensor gamma, OptionalTensor beta, int64_t n, int64_t c, int64_t hxw,
                    int64_t group, double eps, Out out, Out mean, Out rstd) {
  const auto [result, resultMean, resultRstd] =
      at::native_group_norm(Widened(self).contiguous(), Widened(gamma), Widened(beta), n, c, hxw, group, eps);
  Store(out, result);
  Store(mean, resultMean);
  Store(rstd, resultRstd);
});
ACLNN(GroupNormBackward, [](Tensor gradOutput, Tensor input, Tensor mean, Tensor rstd, OptionalTensor gamma,
                            int64_t n, int64_t c, int64_t hxw, int64_t group, Flags outputMask,
                            OptionalOut gradInput, OptionalOut gradGamma, OptionalOut gradBeta) {
  const auto wanted = Three(outputMask);
  StoreThree(
      at::native_group_norm_backward(Widened(gradOutput).contiguous(), Widened(input).contiguous(),
                                     Widened(mean), Widened(rstd), Widened(gamma), n, c, hxw, group, wanted),
      wanted, gradInput, gradGamma, gradBeta);
});

ACLNN(BatchNorm, [](Tensor input, OptionalTensor weight, OptionalTensor bias, OptionalTensor runningMean,
                    OptionalTensor runningVar, bool training, double momentum, double eps, Out output,
                    OptionalOut saveMean, OptionalOut saveInvstd) {
  const auto [result, mean, invstd] =
      at::native_batch_norm(input, weight, bias, runningMean, runningVar, training, momentum, eps);
  Store(output, result);
  if (!training) return;  // the statistics are then the running ones, which the caller has
  Store(saveMean, mean);
  Store(saveInvstd, invstd);
});
ACLNN(BatchNormBackward, [](Tensor gradOutput, Tensor input, OptionalTensor weight,
                            OptionalTensor runningMean, OptionalTensor runningVar, OptionalTensor saveMean,
                            OptionalTensor saveInvstd, bool training, double eps, Flags outputMask,
                            OptionalOut gradInput, OptionalOut gradWeight, OptionalOut gradBias) {
  const auto wanted = Three(outputMask);
  StoreThree(at::native_batch_norm_backward(Widened(gradOutput), Widened(input), Widened(weight),
                                            Widened(runningMean), Widened(runningVar), Widened(saveMean),
                                            Widened(saveInvstd), training, eps, wanted),
             wanted, gradInput, gradWeight, gradBias);
});
