// Loss functions and their gradients. `reduction` counts as in ATen: 0 none, 1 mean, 2 sum.
#include <ATen/core/Reduction.h>

#include <algorithm>

#include "binding.h"
#include "store.h"

namespace simulator::operators {
namespace {

// The gradient of each element before the reduction, given that of the reduced loss.
at::Tensor Spread(Tensor gradOutput, Tensor self, int64_t reduction) {
  return reduction == at::Reduction::Mean ? gradOutput / self.numel() : gradOutput;
}

}  // namespace
}  // namespace simulator::operators

ACLNN(NLLLoss, [](Tensor self, Tensor target, OptionalTensor weight, int64_t reduction, int64_t ignoreIndex,
                  Out out, Out totalWeight) {
  const auto [loss, total] = at::nll_loss_forward(self, target.to(at::kLong), weight, reduction, ignoreIndex);
  Store(out, loss);
  Store(totalWeight, total);
});
ACLNN(NLLLossBackward, [](Tensor gradOutput, Tensor self, Tensor target, OptionalTensor weight,
                          int64_t reduction, int64_t ignoreIndex, Tensor totalWeight, Out out) {
  Store(out, at::nll_loss_backward(gradOutput, self, target.to(at::kLong), weight, reduction, ignoreIndex,
                                   totalWeight.to(self.scalar_type())));
});
ACLNN(NLLLoss2d, [](Tensor self, Tensor target, OptionalTensor weight, int64_t reduction, int64_t ignoreIndex,
                    Out out, Out totalWeight) {
  const auto [loss, total] =
      at::nll_loss2d_forward(self, target.to(at::kLong), weight, reduction, ignoreIndex);
  Store(out, loss);
  Store(totalWeight, total);
});
ACLNN(NLLLoss2dBackward, [](Tensor gradOutput, Tensor self, Tensor target, OptionalTensor weight,
                            int64_t reduction, int64_t ignoreIndex, Tensor totalWeight, Out out) {
  Store(out, at::nll_loss2d_backward(gradOutput, self, target.to(at::kLong), weight, reduction, ignoreIndex,
                                     totalWeight.to(self.scalar_type())));
});

ACLNN(MseLoss, [](Tensor self, Tensor target, int64_t reduction, Out out) {
  Store(out, at::mse_loss(self, target, reduction));
});
ACLNN(MseLossBackward, [](Tensor gradOutput, Tensor self, Tensor target, int64_t reduction, Out out) {
  Store(out, at::mse_loss_backward(gradOutput, self, target, reduction));
});
ACLNN(L1Loss, [](Tensor self, Tensor target, int64_t reduction, Out out) {
  Store(out, at::l1_loss(self, target, reduction));
});
ACLNN(L1LossBackward, [](Tensor gradOutput, Tensor self, Tensor target, int64_t reduction, Out gradInput) {
  Store(gradInput, Spread(gradOutput, self, reduction) * at::sign(self - target));
});
ACLNN(SmoothL1Loss, [](Tensor self, Tensor target, int64_t reduction, float beta, Out out) {
  Store(out, at::smooth_l1_loss(self, target, reduction, beta));
});
ACLNN(SmoothL1LossBackward,
      [](Tensor gradOutput, Tensor self, Tensor target, int64_t reduction, float beta, Out gradInput) {
        Store(gradInput, at::smooth_l1_loss_backward(gradOutput, self, target, reduction, beta));
      });
ACLNN(SoftMarginLoss, [](Tensor self, Tensor target, int64_t reduction, Out out) {
  Store(out, at::soft_margin_loss(self, target, reduction));
});
ACLNN(SoftMarginLossBackward, [](Tensor gradOutput, Tensor self, Tensor target, int64_t reduction, Out out) {
  Store(out, at::soft_margin_loss_backward(gradOutput, self, target, reduction));
});
ACLNN(KlDiv, [](Tensor self, Tensor target, int64_t reduction, bool logTarget, Out out) {
  Store(out, at::kl_div(self, target, reduction, logTarget));
});
ACLNN(KlDivBackward,
      [](Tensor gradOutput, Tensor self, Tensor target, int64_t reduction, bool logTarget, Out out) {
        // The derivative with respect to the input is -target, except where the target carries no weight.
        const auto weight = logTarget ? at::exp(target) : at::where(target > 0, target, 0);
        Store(out, (-weight * Spread(gradOutput, self, reduction)).expand_as(out));
      });

ACLNN(BinaryCrossEntropy, [](Tensor self, Tensor target, OptionalTensor weight, int64_t reduction, Out out) {
  Store(out, at::binary_cross_entropy(self, target, weight, reduction));
});
ACLNN(BinaryCrossEntropyBackward,
      [](Tensor gradOutput, Tensor self, Tensor target, OptionalTensor weight, int64_t reduction, Out out) {
        Store(out, at::binary_cross_entropy_backward(gradOutput, self, target, weight, reduction));
      });
ACLNN(BinaryCrossEntropyWithLogits, [](Tensor self, Tensor target, OptionalTensor weight,
                                       OptionalTensor posWeight, int64_t reduction, Out out) {
  Store(out, at::binary_cross_entropy_with_logits(self, target, weight, posWeight, reduction));
});
ACLNN(BinaryCrossEntropyWithLogitsBackward,
      [](Tensor gradOutput, Tensor self, Tensor target, OptionalTensor weight, OptionalTensor posWeight,
         int64_t reduction, Out out) {
        const auto probability = at::sigmoid(self);
        auto grad = posWeight ? (*posWeight * target + 1 - target) * probability - *posWeight * target
                              : probability - target;
        if (weight) grad = grad * *weight;
        Store(out, grad * Spread(gradOutput, self, reduction));
      });
ACLNN(KlDivTargetBackward,
      [](Tensor gradOutput, Tensor self, Tensor target, int64_t reduction, bool logTarget, Out out) {
        const auto logarithm = logTarget ? target : at::log(target);
        auto slope = logarithm - self + 1;
        slope = logTarget ? slope * at::exp(target) : at::where(target == 0, 0, slope);
        Store(out, (slope * Spread(gradOutput, self, reduction)).expand_as(out));
      });
ACLNN(MultilabelMarginLoss, [](Tensor self, Tensor target, int64_t reduction, Out out, Out isTarget) {
  const auto [loss, marks] = at::multilabel_margin_loss_forward(self, target.to(at::kLong), reduction);
  Store(out, loss);
  Store(isTarget, marks);
});
ACLNN(CtcLoss, [](Tensor logProbs, Tensor targets, Sizes inputLengths, Sizes targetLengths, int64_t blank,
                  bool zeroInfinity, Out loss, Out logAlpha) {
  const auto [losses, alphas] =
      at::_ctc_loss(logProbs, targets, inputLengths, targetLengths, blank, zeroInfinity);
  Store(loss, losses);
  // The device pads the last dimension; only the pair of operators reads it.
  TORCH_CHECK_VALUE(logAlpha.size(2) >= alphas.size(2), "logAlpha has shape ", logAlpha.sizes(),
                    ", at least ", alphas.sizes(), " is needed");
  logAlpha.narrow(2, 0, alphas.size(2)).copy_(alphas);
});
ACLNN(CtcLossBackward,
      [](Tensor gradOutput, Tensor logProbs, Tensor targets, Sizes inputLengths, Sizes targetLengths,
         Tensor loss, Tensor logAlpha, int64_t blank, bool zeroInfinity, Out out) {
        const auto longest =
            targetLengths.empty() ? 0 : *std::max_element(targetLengths.begin(), targetLengths.end());
        const auto alphas = logAlpha.narrow(2, 0, 2 * longest + 1).contiguous();
        Store(out, at::_ctc_loss_backward(gradOutput, logProbs, targets, inputLengths, targetLengths, loss,
                                          alphas, blank, zeroInfinity));
      });
