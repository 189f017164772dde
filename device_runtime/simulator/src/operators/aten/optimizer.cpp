// Fused optimizer steps and the bookkeeping of mixed precision.
#include "binding.h"
#include "store.h"

namespace simulator::operators {
namespace {

// A hyperparameter on the device.
double Value(Tensor scalar) { return scalar.item<double>(); }

// Moves both moments towards what the gradient says.
void UpdateMoments(Out momentum, Out squares, Tensor grad, double beta1, double beta2) {
  Store(momentum, Widened(momentum) * beta1 + grad * (1 - beta1));
  Store(squares, Widened(squares) * beta2 + grad.square() * (1 - beta2));
}

}  // namespace
}  // namespace simulator::operators

ACLNN(ApplyAdam,
      [](Out variable, Out momentum, Out squares, Tensor beta1Power, Tensor beta2Power, Tensor lr,
         Tensor beta1, Tensor beta2, Tensor epsilon, Tensor grad, bool /*useLocking*/, bool nesterov) {
        const auto wide = Widened(grad);
        UpdateMoments(momentum, squares, wide, Value(beta1), Value(beta2));
        const auto moved = Widened(momentum);
        const auto direction = nesterov ? moved * Value(beta1) + wide * (1 - Value(beta1)) : moved;
        const auto rate = Value(lr) * std::sqrt(1 - Value(beta2Power)) / (1 - Value(beta1Power));
        Store(variable, Widened(variable) - direction * rate / (Widened(squares).sqrt() + Value(epsilon)));
      });
// The powers given are those of the step before.
ACLNN(ApplyAdamW, [](Out variable, Out momentum, Out squares, Tensor beta1Power, Tensor beta2Power, Tensor lr,
                     Tensor weightDecay, Tensor beta1, Tensor beta2, Tensor epsilon, Tensor grad,
                     OptionalOut largestSquares, bool amsgrad, bool maximize) {
  TORCH_CHECK_VALUE(!amsgrad || largestSquares, "amsgrad needs the largest squares");
  const auto wide = maximize ? -Widened(grad) : Widened(grad);
  UpdateMoments(momentum, squares, wide, Value(beta1), Value(beta2));
  auto seconds = Widened(squares);
  if (amsgrad) {
    Store(*largestSquares, at::maximum(Widened(*largestSquares), seconds));
    seconds = Widened(*largestSquares);
  }
  const auto first = Widened(momentum) / (1 - Value(beta1Power) * Value(beta1));
  const auto scale = (seconds / (1 - Value(beta2Power) * Value(beta2))).sqrt() + Value(epsilon);
  Store(variable, Widened(variable) * (1 - Value(lr) * Value(weightDecay)) - first / scale * Value(lr));
});
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
