// Fused optimizer steps and the bookkeeping of mixed precision.
#include "binding.h"
#include "store.h"

ACLNN(ApplyAdamWV2, [](Out variable, Out momentum, Out squares, OptionalOut largestSquares, Tensor grad,
                       Tensor step, float lr, float beta1, float beta2, float weightDecay, float eps,
                       bool amsgrad, bool maximize) {
  TORCH_CHECK_VALUE(!amsgrad || largestSquares, "amsgrad needs the largest squares");
  std::vector<at::Tensor> variables{variable}, grads{grad}, momenta{momentum}, squaresList{squares}, largest;
  if (amsgrad) largest.push_back(*largestSquares);
  // The operator counts the step itself.
  const std::vector<at::Tensor> steps{step.to(at::kFloat).reshape({}) + 1};
  at::_fused_adamw_(variables, grads, momenta, squaresList, largest, steps, lr, beta1, beta2, weightDecay,
                    eps, amsgrad, maximize);
});
ACLNN(FusedSgd,
      [](Tensors parameters, Tensors grads, Tensors momenta, OptionalTensor gradScale, float weightDecay,
         float momentum, float lr, float dampening, bool nesterov, bool maximize, bool isFirstStep) {
        at::_fused_sgd_(parameters, grads, momenta, weightDecay, momentum, lr, dampening, nesterov, maximize,
                        isFirstStep, gradScale);
      });
ACLNN(ForeachNonFiniteCheckAndUnscale, [](Tensors grads, Out foundInf, Tensor inverseScale) {
  for (auto grad : grads) {
    if (!at::isfinite(grad).all().item<bool>()) foundInf.fill_(1);
    grad.copy_(grad.to(at::kFloat) * inverseScale);
  }
});
ACLNN(AmpUpdateScale, [](Tensor scale, Tensor growthTracker, Tensor foundInf, double growthFactor,
                         double backoffFactor, int64_t growthInterval, Out newScale, Out newTracker) {
  newScale.copy_(scale);
  newTracker.copy_(growthTracker);
  at::_amp_update_scale_(newScale, newTracker, foundInf, growthFactor, backoffFactor, growthInterval);
});
