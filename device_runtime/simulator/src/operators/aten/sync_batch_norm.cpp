// The parts that batch normalisation over several devices is made of. Dimension 1 holds the channels;
// statistics are kept in float.
#include "binding.h"
#include "store.h"

namespace simulator::operators {
namespace {

std::vector<int64_t> AllButChannels(Tensor input) {
  TORCH_CHECK_VALUE(input.dim() >= 2, "an input of shape ", input.sizes(), " has no channels");
  std::vector<int64_t> dims;
  for (int64_t dim = 0; dim < input.dim(); ++dim) {
    if (dim != 1) dims.push_back(dim);
  }
  return dims;
}

// One value a channel, shaped to broadcast over the input.
at::Tensor PerChannel(Tensor values, Tensor input) {
  std::vector<int64_t> shape(input.dim(), 1);
  shape[1] = input.size(1);
  return Widened(values).reshape(shape);
}

void UpdateRunning(OptionalOut running, Tensor batch, double momentum) {
  if (running) Store(*running, Widened(*running) * (1 - momentum) + batch * momentum);
}

}  // namespace
}  // namespace simulator::operators

ACLNN(BatchNormStats, [](Tensor input, double eps, Out mean, Out invstd) {
  const auto [variance, average] = at::var_mean(Widened(input), AllButChannels(input), /*unbiased=*/false);
  Store(mean, average);
  Store(invstd, at::rsqrt(variance + eps));
});
ACLNN(BatchNormReduce, [](Tensor x, Out sum, Out squareSum) {
  const auto wide = Widened(x);
  Store(sum, at::sum(wide, AllButChannels(x)));
  Store(squareSum, at::sum(wide.square(), AllButChannels(x)));
});
ACLNN(SyncBatchNormGatherStats, [](Tensor sums, Tensor squareSums, Tensor counts, OptionalOut runningMean,
                                   OptionalOut runningVar, float momentum, float eps, Out mean, Out invstd) {
  const auto count = counts.sum().to(at::kFloat);
  const auto average = Widened(sums).sum(0) / count;
  const auto variance = Widened(squareSums).sum(0) / count - average.square();
  UpdateRunning(runningMean, average, momentum);
  UpdateRunning(runningVar, variance * count / (count - 1), momentum);
  Store(mean, average);
  Store(invstd, at::rsqrt(variance + eps));
});
ACLNN(BatchNormGatherStatsWithCounts,
      [](Tensor /*input*/, Tensor mean, Tensor invstd, OptionalOut runningMean, OptionalOut runningVar,
         double momentum, double eps, Tensor counts, Out meanAll, Out invstdAll) {
        const auto each = counts.to(at::kFloat).reshape({-1, 1});
        const auto count = each.sum();
        const auto average = (Widened(mean) * each).sum(0) / count;
        const auto variances = Widened(invstd).pow(-2) - eps;
        const auto variance = ((variances + (Widened(mean) - average).square()) * each).sum(0) / count;
        UpdateRunning(runningMean, average, momentum);
        UpdateRunning(runningVar, variance * count / (count - 1), momentum);
        Store(meanAll, average);
        Store(invstdAll, at::rsqrt(variance + eps));
      });
ACLNN(BatchNormElemt, [](Tensor input, OptionalTensor weight, OptionalTensor bias, Tensor mean, Tensor invstd,
                         double /*eps*/, Out output) {
  auto result = (Widened(input) - PerChannel(mean, input)) * PerChannel(invstd, input);
  if (weight) result = result * PerChannel(*weight, input);
  if (bias) result = result + PerChannel(*bias, input);
  Store(output, result);
});
ACLNN(BatchNormReduceBackward, [](Tensor gradOut, Tensor input, Tensor mean, Tensor invstd,
                                  OptionalTensor /*weight*/, bool inputGrad, bool weightGrad, bool biasGrad,
                                  OptionalOut sumDy, OptionalOut sumDyXmu, OptionalOut gradWeight,
                                  OptionalOut gradBias) {
  const auto grad = Widened(gradOut);
  const auto sum = at::sum(grad, AllButChannels(input));
  const auto product = at::sum(grad * (Widened(input) - PerChannel(mean, input)), AllButChannels(input));
  if (inputGrad) Store(sumDy, sum);
  if (inputGrad) Store(sumDyXmu, product);
  if (weightGrad) Store(gradWeight, product * Widened(invstd));
  if (biasGrad) Store(gradBias, sum);
});
ACLNN(BatchNormElemtBackward,
      [](Tensor gradOut, Tensor input, Tensor mean, Tensor invstd, OptionalTensor weight, Tensor sumDy,
         Tensor sumDyXmu, Tensor counter, Out gradInput) {
        const auto count = counter.sum().to(at::kFloat);
        const auto inverse = PerChannel(invstd, input);
        const auto centered = Widened(input) - PerChannel(mean, input);
        auto result = Widened(gradOut) - PerChannel(sumDy, input) / count -
                      centered * inverse.square() * (PerChannel(sumDyXmu, input) / count);
        result = result * inverse;
        Store(gradInput, weight ? result * PerChannel(*weight, input) : result);
      });
