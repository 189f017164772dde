// Root-mean-square normalisation, with the addition before it that a residual connection needs.
#include "binding.h"
#include "checks.h"
#include "rms.h"

namespace simulator::operators {
namespace {

Plan RmsNorm(Tensor x, Tensor gamma, double epsilon, Out y, OptionalOut rstd) {
  CheckNormalizes(gamma, x);
  CheckSameShape(x, y);
  return [=]() mutable {
    const auto normalized = RmsNormalize(x, gamma, epsilon);
    Store(y, normalized.result);
    Store(rstd, normalized.inverse);
  };
}

Plan RmsNormGrad(Tensor gradOutput, Tensor x, Tensor rstd, Tensor gamma, Out gradInput, Out gradGamma) {
  CheckNormalizes(gamma, x);
  CheckSameShape(x, gradOutput);
  CheckSameShape(x, gradInput);
  CheckSameShape(gamma, gradGamma);
  return [=]() mutable {
    const auto gradients = RmsNormGradients(gradOutput, x, rstd, gamma);
    Store(gradInput, gradients.input);
    Store(gradGamma, gradients.gamma);
  };
}

Plan AddRmsNorm(Tensor x1, Tensor x2, Tensor gamma, double epsilon, Out y, OptionalOut rstd, Out x) {
  CheckSameShape(x1, x2);
  CheckNormalizes(gamma, x1);
  return [=]() mutable {
    const auto sum = Widened(x1) + Widened(x2);
    const auto normalized = RmsNormalize(sum, gamma, epsilon);
    Store(x, sum);
    Store(y, normalized.result);
    Store(rstd, normalized.inverse);
  };
}

}  // namespace
}  // namespace simulator::operators

ACLNN(RmsNorm, Planning(RmsNorm));
ACLNN(RmsNormGrad, Planning(RmsNormGrad));
ACLNN(GemmaRmsNorm, Planning([](Tensor x, Tensor gamma, double epsilon, Out y, OptionalOut rstd) {
        CheckNormalizes(gamma, x);
        CheckSameShape(x, y);
        return Plan([=]() mutable {
          const auto normalized = RmsNormalize(x, 1 + Widened(gamma), epsilon);
          Store(y, normalized.result);
          Store(rstd, normalized.inverse);
        });
      }));
ACLNN(AddRmsNorm, Planning(AddRmsNorm));
// The normalised values replace x1, the sum x2.
ACLNN(InplaceAddRmsNorm, Planning([](Out x1, Out x2, Tensor gamma, double epsilon, OptionalOut rstd) {
        return AddRmsNorm(x1, x2, gamma, epsilon, x1, rstd, x2);
      }));
ACLNN(AddRmsNormCast, Planning([](Tensor x1, Tensor x2, Tensor gamma, double epsilon, Out inFloat, Out y,
                                  OptionalOut rstd, Out x) {
        CheckSameShape(x1, inFloat);
        return Plan([=, add = AddRmsNorm(x1, x2, gamma, epsilon, inFloat, rstd, x)]() mutable {
          add();
          Store(y, inFloat);
        });
      }));
