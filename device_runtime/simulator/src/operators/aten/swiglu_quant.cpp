// SwiGLU between quantised tensors; x may hold the rows of several groups, each with scales of its own.
#include "binding.h"
#include "checks.h"
#include "dtypes.h"
#include "quantize.h"
#include "store.h"

namespace simulator::operators {
namespace {

// The rows of x that belong to groups, and the group of each; without groups all rows are one.
struct GroupedRows {
  at::Tensor group;  // undefined without groups
  int64_t used;

  // A parameter of one row, or one number, a group.
  at::Tensor Parameter(Tensor parameter) const {
    auto wide = parameter.to(at::kFloat);
    if (!group.defined()) return wide.dim() == 2 && wide.size(0) == 1 ? wide.squeeze(0) : wide;
    if (wide.size(0) == 1) return wide.dim() == 1 ? wide : wide.squeeze(0);
    wide = wide.index_select(0, group);
    return wide.dim() == 1 ? wide.unsqueeze(1) : wide;
  }
};

GroupedRows RowsOf(int64_t rows, OptionalTensor groups, bool counts) {
  if (!groups) return {{}, rows};
  const auto group = GroupOfRows(*groups, counts, rows);
  const auto used = (group >= 0).sum().item<int64_t>();
  return {group.narrow(0, 0, used), used};
}

// The variants that DequantSwigluQuant numbers.
struct GluOptions {
  int64_t mode = 0;  // 0 SwiGLU, 1 clipped with alternating elements, 2 clipped with halves
  double limit = 0, alpha = 0, bias = 0;
};

at::Tensor Glu(Tensor x, bool activateLeft, const GluOptions& options) {
  const auto halves = x.chunk(2, -1);
  auto gate = halves[activateLeft ? 0 : 1], value = halves[activateLeft ? 1 : 0];
  if (options.mode == 0) return at::silu(gate) * value;
  if (options.mode == 1) {
    gate = x.slice(-1, 0, x.size(-1), 2);
    value = x.slice(-1, 1, x.size(-1), 2);
  }
  const auto clipped = gate.clamp_max(options.limit);
  return clipped * at::sigmoid(clipped * options.alpha) *
         (value.clamp(-options.limit, options.limit) + options.bias);
}

// A parameter holds one number for all, `length` numbers, or either for each group.
void CheckGroupParameter(const char* what, OptionalTensor parameter, OptionalTensor groups, int64_t length) {
  if (!parameter) return;
  const auto count = groups && groups->dim() == 1 ? groups->numel() : 1;
  const auto numbers = parameter->numel();
  TORCH_CHECK_VALUE(numbers == 1 || numbers == length || numbers == count || numbers == count * length, what,
                    " of shape ", parameter->sizes(), " do not fit ", count, " groups of ", length,
                    " features");
}

void CheckGluQuantises(Tensor x, Tensor y, const std::string& mode) {
  TORCH_CHECK_VALUE(x.dim() >= 2 && x.size(-1) % 2 == 0, "an input of shape ", x.sizes(),
                    " has no two halves");
  TORCH_CHECK_VALUE(mode == "static" || mode == "dynamic", "the quantisation mode ", mode, " is not known");
  auto shape = x.sizes().vec();
  shape.back() /= 2;
  CheckHolds(y, shape);
}

Plan SwiGluQuant(Tensor x, OptionalTensor smooth, OptionalTensor offsets, OptionalTensor groups,
                 bool activateLeft, Text mode, bool counts, Out y, OptionalOut scaleOut) {
  CheckFloat("x", x);
  CheckGluQuantises(x, y, mode);
  CheckGroupParameter("smoothing scales", smooth, groups, x.size(-1) / 2);
  CheckGroupParameter("offsets", offsets, groups, x.size(-1) / 2);
  return [=]() mutable {
    const auto rows = RowsOf(x.flatten(0, -2).size(0), groups, counts);
    auto values = Glu(Widened(x).flatten(0, -2).narrow(0, 0, rows.used), activateLeft, {});
    if (smooth) values = values * rows.Parameter(*smooth);
    auto target = y.flatten(0, -2).narrow(0, 0, rows.used);
    if (mode == "static") return StoreQuantised(target, offsets ? values + rows.Parameter(*offsets) : values);
    const auto quantised = QuantiseRows(values, RangeOf(y.scalar_type()).greatest);
    StoreQuantised(target, quantised.values);
    if (scaleOut) scaleOut->flatten().narrow(0, 0, rows.used).copy_(quantised.scale.reciprocal());
  };
}

at::Tensor DequantisedRows(Tensor x, OptionalTensor weightScale, OptionalTensor activationScale,
                           OptionalTensor bias, const GroupedRows& rows) {
  auto values = x.flatten(0, -2).narrow(0, 0, rows.used).to(at::kFloat);
  if (x.scalar_type() != at::kInt) return values;
  const bool early = bias && bias->scalar_type() == at::kInt;
  if (early) values = values + rows.Parameter(*bias);
  values = values * rows.Parameter(*weightScale);
  if (activationScale) values = values * Widened(*activationScale).reshape({-1, 1}).narrow(0, 0, rows.used);
  return bias && !early ? values + rows.Parameter(*bias) : values;
}

Plan DequantSwiGluQuant(Tensor x, OptionalTensor weightScale, OptionalTensor activationScale,
                        OptionalTensor bias, OptionalTensor quantScale, OptionalTensor quantOffset,
                        OptionalTensor groups, bool activateLeft, Text mode, GluOptions options, Out y,
                        OptionalOut scaleOut) {
  CheckDtype("x", x, {at::kInt, at::kHalf, at::kBFloat16});
  CheckGluQuantises(x, y, mode);
  CheckGroupParameter("weight scales", weightScale, groups, x.size(-1));
  CheckGroupParameter("biases", bias, groups, x.size(-1));
  CheckGroupParameter("quantisation scales", quantScale, groups, x.size(-1) / 2);
  CheckGroupParameter("quantisation offsets", quantOffset, groups, x.size(-1) / 2);
  TORCH_CHECK_VALUE(!activationScale || activationScale->numel() == x.numel() / x.size(-1),
                    "activation scales of shape ", activationScale->sizes(), " do not fit an input of shape ",
                    x.sizes());
  TORCH_CHECK_VALUE(x.scalar_type() != at::kInt || weightScale,
                    "integers are dequantised with a weight scale, which is "
                    "missing");
  TORCH_CHECK_VALUE(options.mode >= 0 && options.mode <= 2, "the SwiGLU mode ", options.mode,
                    " is not implemented");
  return [=]() mutable {
    const auto rows = RowsOf(x.flatten(0, -2).size(0), groups, true);
    auto values = Glu(DequantisedRows(x, weightScale, activationScale, bias, rows), activateLeft, options);
    auto target = y.flatten(0, -2).narrow(0, 0, rows.used);
    if (mode == "static") {
      if (quantScale) values = values / rows.Parameter(*quantScale);
      if (quantOffset) values = values + rows.Parameter(*quantOffset);
      return StoreQuantised(target, values);
    }
    if (quantScale) values = values * rows.Parameter(*quantScale);
    const auto quantised = QuantiseRows(values, RangeOf(y.scalar_type()).greatest);
    StoreQuantised(target, quantised.values);
    if (scaleOut) scaleOut->flatten().narrow(0, 0, rows.used).copy_(quantised.scale);
  };
}

}  // namespace
}  // namespace simulator::operators

ACLNN(SwiGluQuantV2, Planning([](Tensor x, OptionalTensor smooth, OptionalTensor offsets,
                                 OptionalTensor groups, bool activateLeft, Text mode, int64_t groupListType,
                                 int64_t dstType, Out y, OptionalOut scale) {
        TORCH_CHECK_VALUE(dstType == ACL_INT8, "a result of dtype ", dstType, " is not implemented");
        return SwiGluQuant(x, smooth, offsets, groups, activateLeft, mode, groupListType == 1, y, scale);
      }));
ACLNN(DequantSwigluQuant,
      Planning([](Tensor x, OptionalTensor weightScale, OptionalTensor activationScale, OptionalTensor bias,
                  OptionalTensor quantScale, OptionalTensor quantOffset, OptionalTensor groups,
                  bool activateLeft, Text mode, Out y, OptionalOut scale) {
        return DequantSwiGluQuant(x, weightScale, activationScale, bias, quantScale, quantOffset, groups,
                                  activateLeft, mode, {}, y, scale);
      }));
ACLNN(DequantSwigluQuantV2,
      Planning([](Tensor x, OptionalTensor weightScale, OptionalTensor activationScale, OptionalTensor bias,
                  OptionalTensor quantScale, OptionalTensor quantOffset, OptionalTensor groups,
                  bool activateLeft, Text mode, int64_t /*dstType*/, Text roundMode, int64_t activateDim,
                  int64_t swigluMode, double limit, double alpha, double gluBias, Out y, OptionalOut scale) {
        TORCH_CHECK_VALUE(roundMode.empty() || roundMode == "rint", "the rounding mode ", roundMode,
                          " is not implemented");
        TORCH_CHECK_VALUE(activateDim == -1 || activateDim == x.dim() - 1, "halves along dimension ",
                          activateDim, " are not implemented");
        return DequantSwiGluQuant(x, weightScale, activationScale, bias, quantScale, quantOffset, groups,
                                  activateLeft, mode, {swigluMode, limit, alpha, gluBias}, y, scale);
      }));
