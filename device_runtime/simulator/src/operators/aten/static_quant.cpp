// Quantisation and dequantisation with given scales.
#include "binding.h"
#include "checks.h"
#include "dtypes.h"
#include "quantize.h"
#include "store.h"

namespace simulator::operators {
namespace {

// A vector of scales or offsets lies along `axis`; other shapes broadcast as they are.
at::Tensor Along(Tensor parameter, Tensor x, int64_t axis) {
  const auto wide = parameter.to(at::kFloat);
  if (parameter.dim() != 1 || parameter.numel() == 1) return wide;
  std::vector<int64_t> shape(x.dim(), 1);
  shape[at::maybe_wrap_dim(axis, x.dim())] = parameter.numel();
  return wide.view(shape);
}

void CheckAlong(Tensor parameter, Tensor x, int64_t axis) {
  if (parameter.numel() == 1) return;
  const auto along = at::maybe_wrap_dim(axis, x.dim());
  const bool fits = parameter.dim() == 1 ? parameter.numel() == x.size(along)
                                         : at::infer_size(parameter.sizes(), x.sizes()) == x.sizes().vec();
  TORCH_CHECK_VALUE(fits, "scales or offsets of shape ", parameter.sizes(), " do not fit an input of shape ",
                    x.sizes());
}

Plan AscendQuant(Tensor x, Tensor scale, OptionalTensor offset, bool squared, Text mode, int64_t axis,
                 Out y) {
  CheckFloat("x", x);
  CheckHolds(y, x.sizes());
  CheckAlong(scale, x, axis);
  if (offset) CheckAlong(*offset, x, axis);
  Rounded(at::zeros({1}), mode);  // refuses a mode that is not known
  return [=]() mutable {
    const auto factor = Along(scale, x, axis);
    auto values = Widened(x) * factor;
    if (squared) values = values * factor;
    if (offset) values = values + Along(*offset, x, axis);
    StoreQuantised(y, values, mode);
  };
}

Plan AntiQuant(Tensor x, Tensor scale, OptionalTensor offset, bool squared, Out y) {
  CheckDtype("x", x, {at::kChar, at::kInt});
  CheckHalf("y", y);
  CheckHolds(x, y.sizes());
  CheckAlong(scale, y, -1);
  if (offset) CheckAlong(*offset, y, -1);
  return [=]() mutable {
    auto values = Dequantised(x);
    const auto factor = Along(scale, values, -1);
    if (offset) values = values + Along(*offset, values, -1);
    values = values * factor;
    Store(y, squared ? values * factor : values);
  };
}

// Unlike elsewhere int32 stands for itself here.
Plan Quantise(Tensor x, Tensor scales, OptionalTensor zeroPoints, int64_t axis, Out out) {
  CheckFloat("x", x);
  CheckSameShape(x, out);
  CheckAlong(scales, x, axis);
  if (zeroPoints) CheckAlong(*zeroPoints, x, axis);
  if (out.scalar_type() != at::kInt) RangeOf(out.scalar_type());
  return [=]() mutable {
    auto values = Widened(x) / Along(scales, x, axis);
    if (zeroPoints) values = values + Along(*zeroPoints, x, axis);
    if (out.scalar_type() != at::kInt) return StoreQuantised(out, values);
    out.copy_(at::round(values.to(at::kDouble)).clamp(-2147483648.0, 2147483647.0));
  };
}

Plan GroupQuant(Tensor x, Tensor scale, Tensor groups, OptionalTensor offset, Out y) {
  CheckFloat("x", x);
  CheckIndex("groupIndex", groups);
  CheckHolds(y, x.sizes());
  TORCH_CHECK_VALUE(
      x.dim() == 2 && scale.dim() == 2 && scale.size(1) == x.size(1) && groups.numel() == scale.size(0),
      "scales of shape ", scale.sizes(), " for ", groups.numel(), " groups do not fit an input of shape ",
      x.sizes());
  return [=]() mutable {
    const auto group = GroupOfRows(groups, false, x.size(0)).clamp_min(0);
    auto values = Widened(x) * Widened(scale).index_select(0, group);
    if (offset) values = values + Widened(*offset);
    StoreQuantised(y, values);
  };
}

void CheckVector(const char* what, Tensor vector, int64_t length) {
  TORCH_CHECK_VALUE(vector.dim() == 1 && vector.numel() == length, what, " of shape ", vector.sizes(),
                    " instead of ", length, " numbers");
}

// A bias of integers is added before the scaling, another one after it.
Plan DequantBias(Tensor x, Tensor weightScale, OptionalTensor activationScale, OptionalTensor bias, Out out) {
  CheckDtype("x", x, {at::kInt});
  CheckSameShape(x, out);
  TORCH_CHECK_VALUE(x.dim() == 2, "an input of shape ", x.sizes(), " is no matrix");
  CheckVector("weight scales", weightScale, x.size(1));
  if (activationScale) CheckVector("activation scales", *activationScale, x.size(0));
  if (bias) CheckVector("a bias", *bias, x.size(1));
  return [=]() mutable {
    const bool early = bias && bias->scalar_type() == at::kInt;
    auto values = (early ? x + *bias : x).to(at::kFloat) * Widened(weightScale);
    if (activationScale) values = values * Widened(*activationScale).unsqueeze(1);
    if (bias && !early) values = values + Widened(*bias);
    Store(out, values);
  };
}

Plan TransQuantParam(Tensor scale, OptionalTensor offset, int64_t roundMode, Out out) {
  TORCH_CHECK_VALUE(roundMode == 0 || roundMode == 1, "the rounding mode ", roundMode, " is not known");
  TORCH_CHECK_TYPE(IsPacked(out), "the result is packed into 64 bits, the output tensor has dtype ",
                   out.scalar_type());
  CheckDtype("a scale", scale, {at::kFloat});
  CheckBroadcast(scale, offset ? *offset : scale, out);
  return [=]() mutable {
    out.view(at::kLong).copy_(PackedScale(scale, offset, roundMode == 1).expand(out.sizes()));
  };
}

}  // namespace
}  // namespace simulator::operators

ACLNN(AscendQuant,
      Planning([](Tensor x, Tensor scale, OptionalTensor offset, bool squared, Text mode, int32_t /*dstType*/,
                  Out y) { return AscendQuant(x, scale, offset, squared, mode, -1, y); }));
ACLNN(AscendQuantV3,
      Planning([](Tensor x, Tensor scale, OptionalTensor offset, bool squared, Text mode, int32_t /*dstType*/,
                  int32_t axis, Out y) { return AscendQuant(x, scale, offset, squared, mode, axis, y); }));
ACLNN(AscendAntiQuant, Planning([](Tensor x, Tensor scale, OptionalTensor offset, int64_t /*dstType*/,
                                   bool squared, Out y) { return AntiQuant(x, scale, offset, squared, y); }));
ACLNN(Quantize, Planning([](Tensor x, Tensor scales, OptionalTensor zeroPoints, Type /*dtype*/, int32_t axis,
                            Out out) { return Quantise(x, scales, zeroPoints, axis, out); }));
ACLNN(GroupQuant,
      Planning([](Tensor x, Tensor scale, Tensor groups, OptionalTensor offset, int32_t /*dstType*/, Out y) {
        return GroupQuant(x, scale, groups, offset, y);
      }));
ACLNN(DequantBias, Planning([](Tensor x, Tensor weightScale, OptionalTensor activationScale,
                               OptionalTensor bias, int64_t /*outputType*/,
                               Out out) { return DequantBias(x, weightScale, activationScale, bias, out); }));
ACLNN(TransQuantParamV2, Planning([](Tensor scale, OptionalTensor offset, Out out) {
        return TransQuantParam(scale, offset, 0, out);
      }));
ACLNN(TransQuantParamV3, Planning(TransQuantParam));
