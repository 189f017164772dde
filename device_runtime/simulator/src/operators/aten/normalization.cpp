// Batch, layer and group normalisation. Half precision is computed in float, as on the
// device.
#include "binding.h"
#include "checks.h"
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

void CheckEachIs(at::IntArrayRef shape, std::initializer_list<std::optional<at::Tensor>> tensors) {
  for (const auto& tensor : tensors) {
    TORCH_CHECK_VALUE(!tensor || tensor->sizes() == shape, "a tensor of shape ", tensor->sizes(),
                      " was given for one of shape ", shape);
  }
}

void CheckNormalized(Tensor input, Sizes shape, OptionalTensor weight, OptionalTensor bias) {
  const auto count = std::min(static_cast<int64_t>(shape.size()), input.dim());
  TORCH_CHECK_VALUE(!shape.empty() && input.sizes().slice(input.dim() - count) == at::IntArrayRef(shape),
                    "an input of shape ", input.sizes(), " cannot be normalised over a shape of ", shape);
  CheckEachIs(shape, {weight, bias});
}

Plan LayerNorm(Tensor input, Sizes shape, OptionalTensor weight, OptionalTensor bias, double eps, Out out,
               OptionalOut mean, OptionalOut rstd) {
  CheckNormalized(input, shape, weight, bias);
  CheckSameShape(input, out);
  return [=]() mutable {
    const auto [result, resultMean, resultRstd] =
        at::native_layer_norm(Widened(input), shape, Widened(weight), Widened(bias), eps);
    Store(out, result);
    Store(mean, resultMean);
    Store(rstd, resultRstd);
  };
}

Plan LayerNormBackward(Tensor gradOutput, Tensor input, Sizes shape, Tensor mean, Tensor rstd,
                       OptionalTensor weight, OptionalTensor bias, Flags outputMask, OptionalOut gradInput,
                       OptionalOut gradWeight, OptionalOut gradBias) {
  CheckNormalized(input, shape, weight, bias);
  CheckSameShape(input, gradOutput);
  return [=, wanted = Three(outputMask)]() mutable {
    StoreThree(at::native_layer_norm_backward(Widened(gradOutput), Widened(input), shape, Widened(mean),
                                              Widened(rstd), Widened(weight), Widened(bias), wanted),
               wanted, gradInput, gradWeight, gradBias);
  };
}

void CheckGroups(Tensor self, OptionalTensor gamma, OptionalTensor beta, int64_t n, int64_t c, int64_t hxw,
                 int64_t group) {
  TORCH_CHECK_VALUE(group > 0 && c % group == 0, c, " channels are no ", group, " groups");
  TORCH_CHECK_VALUE(self.numel() == n * c * hxw, "an input of shape ", self.sizes(), " is not ", n,
                    " images of ", c, " channels of ", hxw, " elements");
  CheckEachIs({c}, {gamma, beta});
}

Plan GroupNorm(Tensor self, OptionalTensor gamma, OptionalTensor beta, int64_t n, int64_t c, int64_t hxw,
               int64_t group, double eps, Out out, Out mean, Out rstd) {
  CheckGroups(self, gamma, beta, n, c, hxw, group);
  CheckSameShape(self, out);
  return [=]() mutable {
    const auto [result, resultMean, resultRstd] = at::native_group_norm(
        Widened(self).contiguous(), Widened(gamma), Widened(beta), n, c, hxw, group, eps);
    Store(out, result);
    Store(mean, resultMean);
    Store(rstd, resultRstd);
  };
}

Plan GroupNormBackward(Tensor gradOutput, Tensor input, Tensor mean, Tensor rstd, OptionalTensor gamma,
                       int64_t n, int64_t c, int64_t hxw, int64_t group, Flags outputMask,
                       OptionalOut gradInput, OptionalOut gradGamma, OptionalOut gradBeta) {
  CheckGroups(input, gamma, std::nullopt, n, c, hxw, group);
  CheckSameShape(input, gradOutput);
  return [=, wanted = Three(outputMask)]() mutable {
    StoreThree(at::native_group_norm_backward(Widened(gradOutput).contiguous(), Widened(input).contiguous(),
                                              Widened(mean), Widened(rstd), Widened(gamma), n, c, hxw, group,
                                              wanted),
               wanted, gradInput, gradGamma, gradBeta);
  };
}

void CheckChannels(Tensor input, OptionalTensor weight, OptionalTensor bias, OptionalTensor runningMean,
                   OptionalTensor runningVar, bool training) {
  TORCH_CHECK_VALUE(input.dim() >= 2, "an input of shape ", input.sizes(), " has no channels");
  CheckEachIs({input.size(1)}, {weight, bias, runningMean, runningVar});
  TORCH_CHECK_VALUE(training || (runningMean && runningVar), "there are no running statistics");
}

Plan BatchNorm(Tensor input, OptionalTensor weight, OptionalTensor bias, OptionalTensor runningMean,
               OptionalTensor runningVar, bool training, double momentum, double eps, Out output,
               OptionalOut saveMean, OptionalOut saveInvstd) {
  CheckChannels(input, weight, bias, runningMean, runningVar, training);
  CheckSameShape(input, output);
  return [=]() mutable {
    const auto [result, mean, invstd] =
        at::native_batch_norm(input, weight, bias, runningMean, runningVar, training, momentum, eps);
    Store(output, result);
    if (!training) return;  // the statistics are then the running ones, which the caller has
    Store(saveMean, mean);
    Store(saveInvstd, invstd);
  };
}

Plan BatchNormBackward(Tensor gradOutput, Tensor input, OptionalTensor weight, OptionalTensor runningMean,
                       OptionalTensor runningVar, OptionalTensor saveMean, OptionalTensor saveInvstd,
                       bool training, double eps, Flags outputMask, OptionalOut gradInput,
                       OptionalOut gradWeight, OptionalOut gradBias) {
  CheckChannels(input, weight, std::nullopt, runningMean, runningVar, training);
  CheckSameShape(input, gradOutput);
  return [=, wanted = Three(outputMask)]() mutable {
    StoreThree(at::native_batch_norm_backward(Widened(gradOutput), Widened(input), Widened(weight),
                                              Widened(runningMean), Widened(runningVar), Widened(saveMean),
                                              Widened(saveInvstd), training, eps, wanted),
               wanted, gradInput, gradWeight, gradBias);
  };
}

}  // namespace
}  // namespace simulator::operators

ACLNN(LayerNorm, Planning(LayerNorm));
ACLNN(FastLayerNorm, Planning(LayerNorm));
ACLNN(LayerNormBackward, Planning(LayerNormBackward));
ACLNN(GroupNorm, Planning(GroupNorm));
ACLNN(GroupNormBackward, Planning(GroupNormBackward));
ACLNN(BatchNorm, Planning(BatchNorm));
ACLNN(BatchNormBackward, Planning(BatchNormBackward));
