// Products with quantised weights.
#include "binding.h"
#include "dtypes.h"
#include "quantize.h"
#include "store.h"

namespace simulator::operators {
namespace {

// One number a column, or one a group of rows and a column; a matrix of a single number is for all.
at::Tensor PerGroup(Tensor parameter, Tensor weights, int64_t groupSize) {
  const auto wide = Widened(parameter);
  if (groupSize == 0 || wide.dim() < 2 || wide.size(-2) == 1) return wide.dim() < 2 ? wide.flatten() : wide;
  return wide.repeat_interleave(groupSize, -2).narrow(-2, 0, weights.size(-2));
}

void CheckPerGroup(const char* what, Tensor parameter, const std::vector<int64_t>& weights,
                   int64_t groupSize) {
  const auto columns = weights.back(), rows = weights[weights.size() - 2];
  const auto groups = groupSize == 0 ? 1 : (rows + groupSize - 1) / groupSize;
  TORCH_CHECK_VALUE(
      parameter.numel() == 1 || parameter.numel() == columns || parameter.numel() == groups * columns, what,
      " of shape ", parameter.sizes(), " for ", groups, " groups of ", columns, " columns");
}

// The units that multiply take weights of the dtype of what they are multiplied with.
at::Tensor RoundedLike(Tensor weights, Tensor like) { return weights.to(like.scalar_type()).to(at::kFloat); }

Plan WeightQuantMatmul(Tensor x, Tensor weight, Tensor scale, OptionalTensor offset,
                       OptionalTensor quantScale, OptionalTensor quantOffset, OptionalTensor bias,
                       int64_t groupSize, Out y) {
  CheckHalf("x", x);
  CheckDtype("weight", weight, {at::kChar, at::kInt});
  TORCH_CHECK_TYPE(!IsPacked(scale), "packed scales of the weights are not implemented");
  TORCH_CHECK_VALUE(x.dim() >= 2 && weight.dim() >= 2, "operands of shapes ", x.sizes(), " and ",
                    weight.sizes(), " are no matrices");
  TORCH_CHECK_VALUE(groupSize >= 0, "a group size of ", groupSize);
  const auto shape = MatrixShape(weight);
  CheckPerGroup("scales", scale, shape, groupSize);
  if (offset) CheckPerGroup("offsets", *offset, shape, groupSize);
  CheckShape(y, ProductShape(x.sizes().vec(), shape));
  if (quantScale) CheckDtype("the result", y, {at::kChar});
  return [=]() mutable {
    auto weights = DequantisedMatrix(weight);
    if (offset) weights = RoundedLike(weights + PerGroup(*offset, weights, groupSize), x);
    weights = RoundedLike(weights * PerGroup(scale, weights, groupSize), x);
    auto result = at::matmul(Widened(x), weights);
    if (bias) result = result + Widened(*bias);
    if (!quantScale) return Store(y, result);
    result = result * ScaleOf(*quantScale);
    if (quantOffset) {
      result = result + Widened(*quantOffset);
    } else if (IsPacked(*quantScale)) {
      result = result + OffsetOf(*quantScale);
    }
    StoreQuantised(y, result);
  };
}

}  // namespace
}  // namespace simulator::operators

ACLNN(WeightQuantBatchMatmulV2,
      Planning([](Tensor x, Tensor weight, Tensor scale, OptionalTensor offset, OptionalTensor quantScale,
                  OptionalTensor quantOffset, OptionalTensor bias, int32_t groupSize, Out y) {
        return WeightQuantMatmul(x, weight, scale, offset, quantScale, quantOffset, bias, groupSize, y);
      }));
ACLNN(WeightQuantBatchMatmulV3,
      Planning([](Tensor x, Tensor weight, Tensor scale, OptionalTensor offset, OptionalTensor quantScale,
                  OptionalTensor quantOffset, OptionalTensor bias, int32_t groupSize,
                  int32_t /*innerPrecise*/, Out y) {
        return WeightQuantMatmul(x, weight, scale, offset, quantScale, quantOffset, bias, groupSize, y);
      }));
ACLNN(WeightQuantBatchMatmulNz,
      Planning([](Tensor x, Tensor weight, Tensor scale, OptionalTensor offset, OptionalTensor quantScale,
                  OptionalTensor quantOffset, OptionalTensor bias, int32_t groupSize, Out y) {
        return WeightQuantMatmul(x, weight, scale, offset, quantScale, quantOffset, bias, groupSize, y);
      }));
