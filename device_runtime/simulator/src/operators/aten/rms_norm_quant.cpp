// Root-mean-square normalisation whose result is quantised.
#include "binding.h"
#include "checks.h"
#include "dtypes.h"
#include "quantize.h"
#include "rms.h"

namespace simulator::operators {
namespace {

// How normalised values become integers: scaled, shifted, rounded.
struct StaticQuantisation {
  at::Tensor scale;
  std::optional<at::Tensor> offset;
  bool divides;

  at::Tensor Applied(Tensor values) const {
    const auto factor = Widened(scale);
    const auto scaled = divides ? values / factor : values * factor;
    return offset ? scaled + offset->to(at::kFloat) : scaled;
  }
};

void CheckScaled(Tensor x, const StaticQuantisation& quantisation) {
  const auto fits = [&](Tensor parameter) {
    return parameter.numel() == 1 || at::infer_size(parameter.sizes(), x.sizes()) == x.sizes().vec();
  };
  TORCH_CHECK_VALUE(fits(quantisation.scale), "scales of shape ", quantisation.scale.sizes(),
                    " for an input of shape ", x.sizes());
  TORCH_CHECK_VALUE(!quantisation.offset || fits(*quantisation.offset), "offsets for an input of shape ",
                    x.sizes(), " do not fit");
}

// What gamma, and beta if there is one, are like.
void CheckNormalisation(Tensor x, Tensor gamma, OptionalTensor beta) {
  CheckFloat("x", x);
  CheckNormalizes(gamma, x);
  if (beta) CheckSameShape(gamma, *beta);
}

at::Tensor WithBeta(Tensor values, OptionalTensor beta) { return beta ? values + Widened(*beta) : values; }

// A gamma of one row is a vector.
at::Tensor AsVector(Tensor gamma) {
  return gamma.dim() == 2 && gamma.size(0) == 1 ? gamma.squeeze(0) : gamma;
}

Plan AddRmsNormQuant(Tensor x1, Tensor x2, Tensor gamma, StaticQuantisation first,
                     std::optional<StaticQuantisation> second, OptionalTensor beta, double epsilon, Out y1,
                     OptionalOut y2, Out x, OptionalOut normalisedOut) {
  CheckNormalisation(x1, gamma, beta);
  CheckSameShape(x1, x2);
  CheckSameDtype("x2", x2, x1);
  CheckSameShape(x1, x);
  CheckScaled(x1, first);
  CheckHolds(y1, x1.sizes());
  if (second) CheckScaled(x1, *second);
  if (second && y2) CheckHolds(*y2, x1.sizes());
  return [=]() mutable {
    const auto sum = Widened(x1) + Widened(x2);
    const auto normalised = RmsNormalize(sum, gamma, epsilon).result;
    const auto values = WithBeta(normalised, beta);
    Store(x, sum);
    Store(normalisedOut, normalised);
    StoreQuantised(y1, first.Applied(values));
    if (second && y2) StoreQuantised(*y2, second->Applied(values));
  };
}

std::optional<StaticQuantisation> Second(OptionalTensor scale, OptionalTensor offset, bool divides) {
  return scale ? std::optional(StaticQuantisation{*scale, offset, divides}) : std::nullopt;
}

Plan RmsNormQuant(Tensor x, Tensor gamma, OptionalTensor beta, StaticQuantisation quantisation,
                  double epsilon, Out y, OptionalOut rstd) {
  const auto vector = AsVector(gamma);
  CheckNormalisation(x, vector, beta ? std::optional(AsVector(*beta)) : std::nullopt);
  CheckScaled(x, quantisation);
  CheckHolds(y, x.sizes());
  return [=]() mutable {
    const auto normalised = RmsNormalize(x, vector, epsilon);
    StoreQuantised(y, quantisation.Applied(WithBeta(normalised.result, beta)));
    Store(rstd, normalised.inverse);
  };
}

Plan RmsNormGradQuant(Tensor gradOutput, Tensor x, Tensor rstd, Tensor gamma, Tensor scale,
                      OptionalTensor offset, Text mode, bool divides, Out gradInput, Out gradGamma) {
  TORCH_CHECK_VALUE(mode == "static", "the quantisation mode ", mode, " is not implemented");
  CheckNormalisation(x, gamma, {});
  CheckSameShape(x, gradOutput);
  CheckHolds(gradInput, x.sizes());
  CheckSameShape(gamma, gradGamma);
  const StaticQuantisation quantisation{scale, offset, divides};
  CheckScaled(x, quantisation);
  return [=]() mutable {
    const auto gradients = RmsNormGradients(gradOutput, x, rstd, gamma);
    StoreQuantised(gradInput, quantisation.Applied(gradients.input));
    Store(gradGamma, gradients.gamma);
  };
}

// One of the two outputs: quantised row by row, with the scale that was found.
struct DynamicOutput {
  std::optional<at::Tensor> smooth;
  at::Tensor y, scale;

  void Write(Tensor values) {
    const auto smoothed = smooth ? values * Widened(*smooth) : values;
    const auto quantised = QuantiseRows(smoothed, RangeOf(y.scalar_type()).greatest);
    StoreQuantised(y, quantised.values);
    Store(scale, quantised.scale.view(scale.sizes()));
  }
};

// Without a mask the first output is wanted, and the second one if both have smoothing scales.
std::array<bool, 2> Wanted(const std::vector<uint8_t>& mask, bool bothSmoothed) {
  if (mask.empty()) return {true, bothSmoothed};
  TORCH_CHECK_VALUE(mask.size() == 2, "the output mask has ", mask.size(), " values, not 2");
  return {mask[0] != 0, mask[1] != 0};
}

Plan AddRmsNormDynamicQuant(Tensor x1, Tensor x2, Tensor gamma, OptionalTensor smooth1,
                            OptionalTensor smooth2, OptionalTensor beta, double epsilon, Flags mask, Out y1,
                            Out y2, Out x, Out scale1, Out scale2) {
  CheckNormalisation(x1, gamma, beta);
  CheckSameShape(x1, x2);
  CheckSameDtype("x2", x2, x1);
  CheckSameShape(x1, x);
  if (smooth1) CheckSameShape(gamma, *smooth1);
  if (smooth2) CheckSameShape(gamma, *smooth2);
  const auto wanted = Wanted(mask, smooth1 && smooth2);
  DynamicOutput first{smooth1, y1, scale1}, second{smooth2, y2, scale2};
  if (wanted[0]) CheckHolds(y1, x1.sizes());
  if (wanted[1]) CheckHolds(y2, x1.sizes());
  return [=]() mutable {
    const auto sum = Widened(x1) + Widened(x2);
    const auto values = WithBeta(RmsNormalize(sum, gamma, epsilon).result, beta);
    Store(x, sum);
    if (wanted[0]) first.Write(values);
    if (wanted[1]) second.Write(values);
  };
}

}  // namespace
}  // namespace simulator::operators

ACLNN(AddRmsNormQuant,
      Planning([](Tensor x1, Tensor x2, Tensor gamma, Tensor scales1, OptionalTensor scales2,
                  OptionalTensor zeroPoints1, OptionalTensor zeroPoints2, int64_t /*axis, the last one*/,
                  double epsilon, bool divides, Out y1, OptionalOut y2, Out x) {
        std::optional<at::Tensor> none;
        return AddRmsNormQuant(x1, x2, gamma, {scales1, zeroPoints1, divides},
                               Second(scales2, zeroPoints2, divides), none, epsilon, y1, y2, x, none);
      }));
ACLNN(AddRmsNormQuantV2,
      Planning([](Tensor x1, Tensor x2, Tensor gamma, Tensor scales1, OptionalTensor scales2,
                  OptionalTensor zeroPoints1, OptionalTensor zeroPoints2, OptionalTensor beta,
                  int64_t /*axis, the last one*/, double epsilon, bool divides, Out y1, OptionalOut y2, Out x,
                  OptionalOut normalised) {
        return AddRmsNormQuant(x1, x2, gamma, {scales1, zeroPoints1, divides},
                               Second(scales2, zeroPoints2, divides), beta, epsilon, y1, y2, x, normalised);
      }));
ACLNN(RmsNormQuant,
      Planning([](Tensor x, Tensor gamma, Tensor beta, Tensor scale, Tensor offset, double epsilon, Out y) {
        std::optional<at::Tensor> none;
        return RmsNormQuant(x, gamma, beta, {scale, offset, true}, epsilon, y, none);
      }));
ACLNN(RmsNormQuantV3,
      Planning([](Tensor x, Tensor gamma, Tensor scale, OptionalTensor offset, OptionalTensor beta,
                  double epsilon, bool divides, bool outputRstd, Out y, OptionalOut rstd) {
        std::optional<at::Tensor> none;
        return RmsNormQuant(x, gamma, beta, {scale, offset, divides}, epsilon, y, outputRstd ? rstd : none);
      }));
ACLNN(RmsNormGradQuant, Planning(RmsNormGradQuant));
ACLNN(AddRmsNormDynamicQuantV2, Planning(AddRmsNormDynamicQuant));
