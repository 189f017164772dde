// Products of quantised matrices. Sums of products of small integers are exact in double.
#include "binding.h"
#include "checks.h"
#include "dtypes.h"
#include "quantize.h"
#include "store.h"

namespace simulator::operators {
namespace {

// Spreads scales of blocks over a matrix: each dimension is repeated until it covers the matrix's. Vectors
// are columns of a row.
at::Tensor SpreadOver(Tensor scales, int64_t rows, int64_t columns) {
  const auto matrix = scales.dim() < 2 ? scales.reshape({1, -1}) : scales;
  const auto spread = [](Tensor tensor, int64_t dim, int64_t size) {
    const auto have = tensor.size(dim);
    if (have == size || have == 1) return tensor;
    return tensor.repeat_interleave((size + have - 1) / have, dim).narrow(dim, 0, size);
  };
  return spread(spread(matrix, -2, rows), -1, columns);
}

struct QuantMatmulInputs {
  at::Tensor left, right;
  std::optional<at::Tensor> leftScale;
  at::Tensor rightScale;
  std::optional<at::Tensor> rightOffset, resultOffset, bias;

  // One scale a block of rows along the summed dimension.
  bool Grouped() const { return rightScale.dim() >= 2 && rightScale.size(-2) > 1; }
};

at::Tensor ScaledProduct(const QuantMatmulInputs& inputs, Tensor left, Tensor right) {
  const auto scale = ScaleOf(inputs.rightScale).to(at::kDouble);
  const auto rows = right.size(-2), columns = right.size(-1);
  if (!inputs.Grouped()) {
    auto product = at::matmul(left, right);
    if (inputs.bias && inputs.bias->scalar_type() == at::kInt) product = product + *inputs.bias;
    return product * scale.flatten();
  }
  auto weights = right;
  if (inputs.rightOffset) weights = weights - SpreadOver(inputs.rightOffset->to(at::kDouble), rows, columns);
  weights = weights * SpreadOver(scale, rows, columns);
  if (!inputs.leftScale || inputs.leftScale->dim() < 2 || inputs.leftScale->size(-1) == 1)
    return at::matmul(left, weights);
  return at::matmul(left * SpreadOver(inputs.leftScale->to(at::kDouble), left.size(-2), left.size(-1)),
                    weights);
}

// One scale a row of the result, or one for all.
at::Tensor RowScale(Tensor scale) {
  const auto wide = scale.to(at::kDouble);
  return wide.dim() >= 2 ? wide : wide.unsqueeze(-1);
}

at::Tensor QuantisedProduct(const QuantMatmulInputs& inputs) {
  const auto left = DequantisedMatrix(inputs.left).to(at::kDouble);
  const auto right = DequantisedMatrix(inputs.right).to(at::kDouble);
  auto result = ScaledProduct(inputs, left, right);
  if (inputs.resultOffset) result = result + inputs.resultOffset->to(at::kDouble);
  const bool rowScaled = inputs.leftScale && (inputs.leftScale->dim() < 2 || inputs.leftScale->size(-1) == 1);
  if (rowScaled) result = result * RowScale(*inputs.leftScale);
  if (inputs.bias && inputs.bias->scalar_type() != at::kInt) result = result + inputs.bias->to(at::kDouble);
  if (inputs.Grouped()) return result;
  if (inputs.rightOffset) return result + inputs.rightOffset->to(at::kDouble);
  return IsPacked(inputs.rightScale) ? result + OffsetOf(inputs.rightScale) : result;
}

void StoreProduct(Out out, Tensor result) {
  if (out.scalar_type() == at::kChar) return StoreQuantised(out, result);
  if (out.scalar_type() == at::kInt) {
    out.copy_(at::round(result));
  } else {
    Store(out, result.to(at::kFloat));
  }
}

std::optional<at::Tensor> Filled(OptionalTensor tensor) {
  return tensor && tensor->numel() > 0 ? tensor : std::nullopt;
}

void CheckScales(const QuantMatmulInputs& inputs, at::IntArrayRef product) {
  const auto rows = product[product.size() - 2], columns = product.back();
  const auto numbers = inputs.rightScale.numel();
  TORCH_CHECK_VALUE(inputs.Grouped() || numbers == 1 || numbers == columns, numbers, " scales do not fit ",
                    columns, " columns");
  TORCH_CHECK_VALUE(!inputs.bias || inputs.bias->size(-1) == columns, "a bias of shape ",
                    inputs.bias->sizes(), " does not fit ", columns, " columns");
  const auto& left = inputs.leftScale;
  TORCH_CHECK_VALUE(!left || left->dim() >= 2 || left->numel() == rows || left->numel() == 1, left->numel(),
                    " scales do not fit ", rows, " rows");
}

Plan QuantMatmul(Tensor left, Tensor right, OptionalTensor leftScale, OptionalTensor rightScale,
                 OptionalTensor yScale, OptionalTensor leftOffset, OptionalTensor rightOffset,
                 OptionalTensor yOffset, OptionalTensor bias, bool transposeLeft, bool transposeRight,
                 Out out) {
  CheckDtype("x1", left, {at::kChar, at::kInt});
  CheckDtype("x2", right, {at::kChar, at::kInt});
  CheckDtype("the result", out, {at::kHalf, at::kBFloat16, at::kChar, at::kInt, at::kFloat});
  TORCH_CHECK_VALUE(rightScale, "a product without the scale of the right matrix is not implemented");
  TORCH_CHECK_VALUE(!Filled(yScale) && !Filled(leftOffset), "yScale and x1Offset are not implemented");
  TORCH_CHECK_VALUE(left.dim() >= 2 && right.dim() >= 2, "operands of shapes ", left.sizes(), " and ",
                    right.sizes(), " are no matrices");
  const QuantMatmulInputs inputs{transposeLeft ? left.transpose(-1, -2) : left,
                                 transposeRight ? right.transpose(-1, -2) : right,
                                 Filled(leftScale),
                                 *rightScale,
                                 Filled(rightOffset),
                                 Filled(yOffset),
                                 Filled(bias)};
  const auto shape = ProductShape(MatrixShape(inputs.left), MatrixShape(inputs.right));
  CheckScales(inputs, shape);
  CheckShape(out, shape);
  return [inputs, out]() mutable { StoreProduct(out, QuantisedProduct(inputs)); };
}

// Quantises the left operand first; a packed scale of the weights already contains that of the left operand.
Plan QuantMatmulDequant(Tensor x, Tensor weight, Tensor weightScale, OptionalTensor bias,
                        OptionalTensor xScale, OptionalTensor xOffset, OptionalTensor smooth, Text mode,
                        bool transposeWeight, Out out) {
  CheckDtype("x", x, {at::kHalf});
  CheckDtype("weight", weight, {at::kChar});
  TORCH_CHECK_VALUE(x.dim() >= 2 && weight.dim() == 2, "operands of shapes ", x.sizes(), " and ",
                    weight.sizes(), " are no matrices");
  TORCH_CHECK_VALUE(!Filled(xOffset), "an offset of x is not implemented");
  TORCH_CHECK_VALUE(mode.empty() || mode == "pertoken" || mode == "pertensor", "the quantisation mode ", mode,
                    " is not known");
  CheckShape(out, ProductShape(x.sizes().vec(), (transposeWeight ? weight.t() : weight).sizes().vec()));
  return [=]() mutable {
    const auto wide = smooth ? Widened(x) * Widened(*smooth) : Widened(x);
    const auto found = mode == "pertensor" ? wide.abs().amax() / 127 : wide.abs().amax(-1, true) / 127;
    const auto scale = xScale ? RowScale(*xScale).to(at::kFloat) : found;
    const auto quantised =
        at::round(wide / scale.masked_fill(scale == 0, 1)).clamp(-128, 127).to(at::kDouble);
    const auto weights = weight.to(at::kDouble);
    auto result = at::matmul(quantised, transposeWeight ? weights.transpose(-1, -2) : weights);
    if (bias) result = result + *bias;
    result = result * ScaleOf(weightScale);
    Store(out, (IsPacked(weightScale) ? result : result * scale).to(at::kFloat));
  };
}

}  // namespace
}  // namespace simulator::operators

ACLNN(QuantMatmulV5, Planning([](Tensor x1, Tensor x2, OptionalTensor x1Scale, OptionalTensor x2Scale,
                                 OptionalTensor yScale, OptionalTensor x1Offset, OptionalTensor x2Offset,
                                 OptionalTensor yOffset, OptionalTensor bias, bool transposeX1,
                                 bool transposeX2, int64_t /*groupSize, told by the scales*/, Out out) {
        return QuantMatmul(x1, x2, x1Scale, x2Scale, yScale, x1Offset, x2Offset, yOffset, bias, transposeX1,
                           transposeX2, out);
      }));
ACLNN(QuantMatmulWeightNz,
      Planning([](Tensor x1, Tensor x2, OptionalTensor x1Scale, OptionalTensor x2Scale, OptionalTensor yScale,
                  OptionalTensor x1Offset, OptionalTensor x2Offset, OptionalTensor yOffset,
                  OptionalTensor bias, bool transposeX1, bool transposeX2, int64_t /*groupSize*/, Out out) {
        return QuantMatmul(x1, x2, x1Scale, x2Scale, yScale, x1Offset, x2Offset, yOffset, bias, transposeX1,
                           transposeX2, out);
      }));
ACLNN(QuantMatmulDequant, Planning(QuantMatmulDequant));
