// Layer and group normalisation fused with what stands before or after it.
#include "binding.h"
#include "checks.h"
#include "rms.h"

namespace simulator::operators {
namespace {

struct LayerNormalized {
  at::Tensor result, mean, inverse;
};

LayerNormalized NormalizeLayer(Tensor x, Tensor gamma, Tensor beta, double epsilon) {
  const auto dims = LastDims(x, gamma.dim());
  const auto mean = x.mean(dims, true);
  const auto centred = x - mean;
  const auto inverse = at::rsqrt((centred * centred).mean(dims, true) + epsilon);
  return {centred * inverse * Widened(gamma) + Widened(beta), mean, inverse};
}

struct LayerGradients {
  at::Tensor input, gamma, beta;
};

LayerGradients LayerNormGradients(Tensor gradOutput, Tensor x, Tensor mean, Tensor inverse, Tensor gamma) {
  const auto dims = LastDims(x, gamma.dim());
  const auto shape = RowShape(x, gamma.dim());
  const auto rstd = inverse.reshape(shape);
  const auto normalized = (x - mean.reshape(shape)) * rstd;
  const auto weighted = gradOutput * Widened(gamma);
  const auto input =
      (weighted - weighted.mean(dims, true) - normalized * (weighted * normalized).mean(dims, true)) * rstd;
  return {input, SumToLast(gradOutput * normalized, gamma.dim()), SumToLast(gradOutput, gamma.dim())};
}

// A statistic whose declared shape may write the dimensions of one number in fewer or more ones.
void StoreRows(Out out, Tensor rows) { Store(out, rows.reshape(out.sizes())); }

Plan DeepNorm(Tensor x, Tensor gx, Tensor beta, Tensor gamma, double alpha, double epsilon, Out mean,
              Out rstd, Out y) {
  CheckSameShape(x, gx);
  CheckSameShape(x, y);
  CheckSameShape(gamma, beta);
  CheckNormalizes(gamma, x);
  return [=]() mutable {
    const auto normalized = NormalizeLayer(Widened(x) * alpha + Widened(gx), gamma, beta, epsilon);
    StoreRows(mean, normalized.mean);
    StoreRows(rstd, normalized.inverse);
    Store(y, normalized.result);
  };
}

Plan DeepNormGrad(Tensor gradOutput, Tensor x, Tensor gx, Tensor gamma, Tensor mean, Tensor rstd,
                  double alpha, Out gradX, Out gradGx, Out gradBeta, Out gradGamma) {
  CheckSameShape(x, gx);
  CheckSameShape(x, gradOutput);
  CheckNormalizes(gamma, x);
  return [=]() mutable {
    const auto sum = Widened(x) * alpha + Widened(gx);
    const auto gradients = LayerNormGradients(Widened(gradOutput), sum, mean, rstd, gamma);
    Store(gradX, gradients.input * alpha);
    Store(gradGx, gradients.input);
    Store(gradBeta, gradients.beta);
    Store(gradGamma, gradients.gamma);
  };
}

Plan AddLayerNorm(Tensor x1, Tensor x2, Tensor gamma, Tensor beta, OptionalTensor bias, double epsilon,
                  bool additionalOutput, Out y, Out mean, Out rstd, Out x) {
  CheckSameShape(x1, x2);
  CheckSameShape(x1, y);
  CheckSameShape(gamma, beta);
  CheckNormalizes(gamma, x1);
  return [=]() mutable {
    auto sum = Widened(x1) + Widened(x2);
    if (bias) sum = sum + Widened(*bias);
    const auto normalized = NormalizeLayer(sum, gamma, beta, epsilon);
    Store(y, normalized.result);
    StoreRows(mean, normalized.mean);
    StoreRows(rstd, normalized.inverse);
    if (additionalOutput) Store(x, sum);
  };
}

Plan AddLayerNormGrad(Tensor gradOutput, Tensor x1, Tensor x2, Tensor rstd, Tensor mean, Tensor gamma,
                      OptionalTensor gradSum, Out gradX, Out gradGamma, Out gradBeta) {
  CheckSameShape(x1, x2);
  CheckSameShape(x1, gradOutput);
  CheckNormalizes(gamma, x1);
  return [=]() mutable {
    const auto sum = Widened(x1) + Widened(x2);
    const auto gradients = LayerNormGradients(Widened(gradOutput), sum, mean, rstd, gamma);
    Store(gradX, gradSum ? gradients.input + Widened(*gradSum) : gradients.input);
    Store(gradGamma, gradients.gamma);
    Store(gradBeta, gradients.beta);
  };
}

// Batch, channels, what is left.
struct GroupSizes {
  int64_t batch, channels, inner;
};

GroupSizes CheckedGroups(Tensor x, int64_t groups) {
  TORCH_CHECK_VALUE(x.dim() >= 2 && groups > 0 && x.size(1) % groups == 0, "an input of shape ", x.sizes(),
                    " cannot be divided into ", groups, " groups of channels");
  return {x.size(0), x.size(1), c10::multiply_integers(x.sizes().slice(2))};
}

void CheckChannelsFirst(const std::string& format) {
  TORCH_CHECK_VALUE(format.empty() || format == "NCHW", "the data format ", format, " is not implemented");
}

struct Swish {
  bool active;
  double scale;
};

Plan GroupNormSwish(Tensor x, OptionalTensor gamma, OptionalTensor beta, int64_t groups, double epsilon,
                    Swish swish, Out y, Out mean, Out rstd) {
  CheckSameShape(x, y);
  const auto sizes = CheckedGroups(x, groups);
  return [=]() mutable {
    const auto normalized = at::native_group_norm(Widened(x).contiguous(), Widened(gamma), Widened(beta),
                                                  sizes.batch, sizes.channels, sizes.inner, groups, epsilon);
    const auto& result = std::get<0>(normalized);
    Store(y, swish.active ? result * at::sigmoid(result * swish.scale) : result);
    Store(mean, std::get<1>(normalized));
    Store(rstd, std::get<2>(normalized));
  };
}

Plan GroupNormSwishGrad(Tensor gradOutput, Tensor mean, Tensor rstd, Tensor x, Tensor gamma, Tensor beta,
                        int64_t groups, Text format, double scale, bool wantsGamma, bool wantsBeta, Out gradX,
                        OptionalOut gradGamma, OptionalOut gradBeta) {
  CheckChannelsFirst(format);
  CheckSameShape(x, gradOutput);
  CheckSameShape(x, gradX);
  const auto sizes = CheckedGroups(x, groups);
  return [=]() mutable {
    const auto wide = Widened(x);
    std::vector<int64_t> channels(x.dim(), 1), groupsAndRest{sizes.batch, groups, -1};
    channels[1] = sizes.channels;
    const auto centred = wide.reshape(groupsAndRest) - Widened(mean).view({sizes.batch, groups, 1});
    const auto normalized = (centred * Widened(rstd).view({sizes.batch, groups, 1})).view(x.sizes());
    const auto before = (normalized * Widened(gamma).view(channels) + Widened(beta).view(channels)) * scale;
    const auto slope = at::sigmoid(before) * (1 + before * (1 - at::sigmoid(before)));
    const auto grad = (Widened(gradOutput) * slope).contiguous();
    const auto gradients = at::native_group_norm_backward(
        grad, wide.contiguous(), Widened(mean).contiguous(), Widened(rstd).contiguous(), Widened(gamma),
        sizes.batch, sizes.channels, sizes.inner, groups, {true, wantsGamma, wantsBeta});
    Store(gradX, std::get<0>(gradients));
    if (wantsGamma) Store(gradGamma, std::get<1>(gradients));
    if (wantsBeta) Store(gradBeta, std::get<2>(gradients));
  };
}

}  // namespace
}  // namespace simulator::operators

ACLNN(DeepNorm, Planning(DeepNorm));
ACLNN(DeepNormGrad, Planning(DeepNormGrad));
ACLNN(AddLayerNorm, Planning(AddLayerNorm));
ACLNN(AddLayerNormGrad, Planning(AddLayerNormGrad));
ACLNN(GroupNormSilu, Planning([](Tensor self, OptionalTensor gamma, OptionalTensor beta, int64_t group,
                                 double eps, Out out, Out mean, Out rstd) {
        return GroupNormSwish(self, gamma, beta, group, eps, {true, 1.0}, out, mean, rstd);
      }));
ACLNN(GroupNormSwish, Planning([](Tensor x, Tensor gamma, Tensor beta, int64_t groups, Text format,
                                  double eps, bool activate, double scale, Out y, Out mean, Out rstd) {
        CheckChannelsFirst(format);
        return GroupNormSwish(x, gamma, beta, groups, eps, {activate, scale}, y, mean, rstd);
      }));
ACLNN(GroupNormSwishGrad, Planning(GroupNormSwishGrad));
