// Losses of scores for classes, and their gradients.
#include <ATen/ops/nll_loss_backward_meta_dispatch.h>
#include <ATen/ops/nll_loss_forward_meta_dispatch.h>

#include "binding.h"
#include "checks.h"
#include "loss_reduction.h"
#include "store.h"

namespace simulator::operators {
namespace {

// A tensor without memory like a given one, with the dtype that ATen wants of classes.
at::Tensor BareClasses(Tensor target) {
  TORCH_CHECK_TYPE(at::isIntegralType(target.scalar_type(), false), "the classes have dtype ",
                   target.scalar_type());
  return at::Tensor(at::detail::empty_meta(target.sizes(), at::kLong));
}

std::optional<at::Tensor> BareWeight(OptionalTensor weight) {
  return weight ? std::optional(Bare(*weight)) : std::nullopt;
}

Plan NllLoss(Tensor self, Tensor target, OptionalTensor weight, int64_t reduction, int64_t ignoreIndex,
             Out out, Out totalWeight) {
  CheckKnown(reduction);
  const auto [loss, total] =
      at::meta::nll_loss_forward(Bare(self), BareClasses(target), BareWeight(weight), reduction, ignoreIndex);
  CheckLike(out, loss);
  CheckLike(totalWeight, total);
  return [=]() mutable {
    const auto [result, weights] =
        at::nll_loss_forward(self, target.to(at::kLong), weight, reduction, ignoreIndex);
    Store(out, result);
    Store(totalWeight, weights);
  };
}

Plan NllLossBackward(Tensor gradOutput, Tensor self, Tensor target, OptionalTensor weight, int64_t reduction,
                     int64_t ignoreIndex, Tensor totalWeight, Out out) {
  CheckKnown(reduction);
  CheckLike(out, at::meta::nll_loss_backward(Bare(gradOutput), Bare(self), BareClasses(target),
                                             BareWeight(weight), reduction, ignoreIndex, Bare(totalWeight)));
  return [=]() mutable {
    Store(out, at::nll_loss_backward(gradOutput, self, target.to(at::kLong), weight, reduction, ignoreIndex,
                                     totalWeight.to(self.scalar_type())));
  };
}

// Scores of shape [images, classes, height, width], a class for each pixel.
void CheckPixels(Tensor self, Tensor target, OptionalTensor weight, int64_t reduction) {
  CheckKnown(reduction);
  BareClasses(target);
  TORCH_CHECK_VALUE(self.dim() == 4, "the scores have shape ", self.sizes());
  CheckShape(target, {self.size(0), self.size(2), self.size(3)});
  if (weight) CheckShape(*weight, {self.size(1)});
}

Plan NllLoss2d(Tensor self, Tensor target, OptionalTensor weight, int64_t reduction, int64_t ignoreIndex,
               Out out, Out totalWeight) {
  CheckPixels(self, target, weight, reduction);
  CheckShape(out, reduction == at::Reduction::None ? target.sizes() : at::IntArrayRef());
  return [=]() mutable {
    const auto [result, weights] =
        at::nll_loss2d_forward(self, target.to(at::kLong), weight, reduction, ignoreIndex);
    Store(out, result);
    Store(totalWeight, weights);
  };
}

Plan NllLoss2dBackward(Tensor gradOutput, Tensor self, Tensor target, OptionalTensor weight,
                       int64_t reduction, int64_t ignoreIndex, Tensor totalWeight, Out out) {
  CheckPixels(self, target, weight, reduction);
  CheckSameShape(self, out);
  return [=]() mutable {
    Store(out, at::nll_loss2d_backward(gradOutput, self, target.to(at::kLong), weight, reduction, ignoreIndex,
                                       totalWeight.to(self.scalar_type())));
  };
}

Plan MultilabelMarginLoss(Tensor self, Tensor target, int64_t reduction, Out out, Out isTarget) {
  CheckKnown(reduction);
  TORCH_CHECK_VALUE(self.dim() <= 2, "the scores have shape ", self.sizes());
  CheckSameShape(self, target);
  CheckSameShape(self, isTarget);
  const auto batch = self.sizes().slice(0, self.dim() == 2 ? 1 : 0);
  CheckShape(out, reduction == at::Reduction::None ? batch : at::IntArrayRef());
  return [=]() mutable {
    const auto [loss, marks] = at::multilabel_margin_loss_forward(self, target.to(at::kLong), reduction);
    Store(out, loss);
    Store(isTarget, marks);
  };
}

}  // namespace
}  // namespace simulator::operators

ACLNN(NLLLoss, Planning(NllLoss));
ACLNN(NLLLossBackward, Planning(NllLossBackward));
ACLNN(NLLLoss2d, Planning(NllLoss2d));
ACLNN(NLLLoss2dBackward, Planning(NllLoss2dBackward));

ACLNN(MultilabelMarginLoss, Planning(MultilabelMarginLoss));
