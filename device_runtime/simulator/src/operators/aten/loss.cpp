// Losses of each element, and their gradients.
#include "binding.h"
#include "checks.h"
#include "loss_reduction.h"
#include "rehearsal.h"
#include "store.h"

namespace simulator::operators {
namespace {

// The gradient of each element before the reduction, given that of the reduced loss.
at::Tensor Spread(Tensor gradOutput, Tensor self, int64_t reduction) {
  return reduction == at::Reduction::Mean ? gradOutput / self.numel() : gradOutput;
}

template <typename Parameter>
void CheckIfReduction(std::vector<int64_t>& shape, Parameter given) {
  if constexpr (std::is_same_v<Parameter, int64_t>) {
    CheckKnown(given);
    if (given != at::Reduction::None) shape.clear();
  }
}

// The inputs are broadcast, and what is computed of each element is reduced. The reduction is the one
// int64_t.
template <typename... Parameters>
void CheckLoss(Parameters... given) {
  std::vector<int64_t> shape;
  (ExtendByInput<Parameters>(shape, given), ...);
  (CheckIfReduction<Parameters>(shape, given), ...);
  (CheckOutput<Parameters>(given, shape), ...);
}

template <typename... Parameters>
constexpr Implementation<Parameters...> LossOf(void (*compute)(Parameters...)) {
  return {&CheckLoss<Parameters...>, compute, &Rehearse<Parameters...>};
}

// A loss of each element. Its gradient is Broadcasting: that of the reduced loss is a scalar.
template <typename Compute>
constexpr auto Loss(Compute compute) {
  return LossOf(+compute);
}

}  // namespace
}  // namespace simulator::operators

ACLNN(MseLoss, Loss([](Tensor self, Tensor target, int64_t reduction, Out out) {
        Store(out, at::mse_loss(self, target, reduction));
      }));
ACLNN(MseLossBackward,
      Broadcasting([](Tensor gradOutput, Tensor self, Tensor target, int64_t reduction, Out out) {
        Store(out, at::mse_loss_backward(gradOutput, self, target, reduction));
      }));
ACLNN(L1Loss, Loss([](Tensor self, Tensor target, int64_t reduction, Out out) {
        Store(out, at::l1_loss(self, target, reduction));
      }));
ACLNN(L1LossBackward,
      Broadcasting([](Tensor gradOutput, Tensor self, Tensor target, int64_t reduction, Out gradInput) {
        Store(gradInput, Spread(gradOutput, self, reduction) * at::sign(self - target));
      }));
ACLNN(SmoothL1Loss, Loss([](Tensor self, Tensor target, int64_t reduction, float beta, Out out) {
        Store(out, at::smooth_l1_loss(self, target, reduction, beta));
      }));
ACLNN(SmoothL1LossBackward, Broadcasting([](Tensor gradOutput, Tensor self, Tensor target, int64_t reduction,
                                            float beta, Out gradInput) {
        Store(gradInput, at::smooth_l1_loss_backward(gradOutput, self, target, reduction, beta));
      }));
ACLNN(SoftMarginLoss, Loss([](Tensor self, Tensor target, int64_t reduction, Out out) {
        Store(out, at::soft_margin_loss(self, target, reduction));
      }));
ACLNN(SoftMarginLossBackward,
      Broadcasting([](Tensor gradOutput, Tensor self, Tensor target, int64_t reduction, Out out) {
        Store(out, at::soft_margin_loss_backward(gradOutput, self, target, reduction));
      }));
ACLNN(KlDiv, Loss([](Tensor self, Tensor target, int64_t reduction, bool logTarget, Out out) {
        Store(out, at::kl_div(self, target, reduction, logTarget));
      }));
ACLNN(KlDivBackward, Broadcasting([](Tensor gradOutput, Tensor self, Tensor target, int64_t reduction,
                                     bool logTarget, Out out) {
        // The derivative with respect to the input is -target, except where the target carries no weight.
        const auto weight = logTarget ? at::exp(target) : at::where(target > 0, target, 0);
        Store(out, (-weight * Spread(gradOutput, self, reduction)).expand_as(out));
      }));

ACLNN(BinaryCrossEntropy,
      Loss([](Tensor self, Tensor target, OptionalTensor weight, int64_t reduction, Out out) {
        Store(out, at::binary_cross_entropy(self, target, weight, reduction));
      }));
ACLNN(BinaryCrossEntropyBackward, Broadcasting([](Tensor gradOutput, Tensor self, Tensor target,
                                                  OptionalTensor weight, int64_t reduction, Out out) {
        Store(out, at::binary_cross_entropy_backward(gradOutput, self, target, weight, reduction));
      }));
ACLNN(BinaryCrossEntropyWithLogits, Loss([](Tensor self, Tensor target, OptionalTensor weight,
                                            OptionalTensor posWeight, int64_t reduction, Out out) {
        Store(out, at::binary_cross_entropy_with_logits(self, target, weight, posWeight, reduction));
      }));
ACLNN(BinaryCrossEntropyWithLogitsBackward,
      Broadcasting([](Tensor gradOutput, Tensor self, Tensor target, OptionalTensor weight,
                      OptionalTensor posWeight, int64_t reduction, Out out) {
        const auto probability = at::sigmoid(self);
        auto grad = posWeight ? (*posWeight * target + 1 - target) * probability - *posWeight * target
                              : probability - target;
        if (weight) grad = grad * *weight;
        Store(out, grad * Spread(gradOutput, self, reduction));
      }));
ACLNN(KlDivTargetBackward, Broadcasting([](Tensor gradOutput, Tensor self, Tensor target, int64_t reduction,
                                           bool logTarget, Out out) {
        const auto logarithm = logTarget ? target : at::log(target);
        auto slope = logarithm - self + 1;
        slope = logTarget ? slope * at::exp(target) : at::where(target == 0, 0, slope);
        Store(out, (slope * Spread(gradOutput, self, reduction)).expand_as(out));
      }));
