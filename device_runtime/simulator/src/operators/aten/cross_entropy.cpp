// Cross entropy of logits in one operator, and its gradient.
#include "binding.h"
#include "store.h"

namespace simulator::operators {
namespace {

int64_t ReductionOf(Text name) {
  if (name == "none") return at::Reduction::None;
  if (name == "mean") return at::Reduction::Mean;
  TORCH_CHECK_VALUE(name == "sum", "the reduction ", name, " is not none, mean or sum");
  return at::Reduction::Sum;
}

// As in the vendor's operator, the loss of the normalising sum itself is not there yet.
void CheckNoZLoss(double scale) {
  TORCH_CHECK_NOT_IMPLEMENTED(scale == 0, "lse_square_scale_for_zloss is not implemented");
}

// What is wanted of each class: most of it of the target, a little of each if labels are smoothed.
at::Tensor Wanted(Tensor logProb, Tensor target, OptionalTensor weight, int64_t ignored, double smoothing) {
  const auto classes = logProb.size(1);
  const auto weights = weight ? weight->to(at::kFloat) : at::ones({classes}, at::kFloat);
  const auto valid = (target != ignored).unsqueeze(1);
  const auto index = at::where(valid, target.to(at::kLong).unsqueeze(1), 0);
  const auto ofTarget = weights.index_select(0, index.flatten()).unsqueeze(1) * (1 - smoothing);
  const auto wanted = (weights * (smoothing / static_cast<double>(classes))).expand(logProb.sizes()).clone();
  return wanted.scatter_add_(1, index, ofTarget) * valid;
}

// The mean is over the weights of the targets.
at::Tensor TotalWeight(Tensor target, OptionalTensor weight, int64_t ignored) {
  const auto valid = target.masked_select(target != ignored).to(at::kLong);
  return weight ? weight->to(at::kFloat).index_select(0, valid).sum()
                : at::scalar_tensor(valid.numel(), at::kFloat);
}

}  // namespace
}  // namespace simulator::operators

ACLNN(CrossEntropyLoss,
      Checked([](Tensor, Tensor, OptionalTensor, Text, int64_t, double, double scale, bool, Out, Out,
                 OptionalOut, OptionalOut) { CheckNoZLoss(scale); },
              [](Tensor input, Tensor target, OptionalTensor weight, Text reduction, int64_t ignored,
                 double smoothing, double, bool, Out loss, Out logProb, OptionalOut, OptionalOut) {
                const auto logarithm = at::log_softmax(Widened(input), 1);
                Store(logProb, logarithm);
                Store(loss, at::cross_entropy_loss(Widened(input), target.to(at::kLong), weight,
                                                   ReductionOf(reduction), ignored, smoothing)
                                .view_as(loss));
              }));
ACLNN(CrossEntropyLossGrad,
      Checked([](Tensor, Tensor, Tensor, OptionalTensor, OptionalTensor, OptionalTensor, Text, int64_t,
                 double, double scale, Out) { CheckNoZLoss(scale); },
              [](Tensor gradLoss, Tensor logProb, Tensor target, OptionalTensor weight, OptionalTensor,
                 OptionalTensor, Text reduction, int64_t ignored, double smoothing, double, Out gradInput) {
                const auto wanted = Wanted(logProb, target, weight, ignored, smoothing);
                auto scale = Widened(gradLoss).reshape({-1, 1});
                if (ReductionOf(reduction) == at::Reduction::Mean)
                  scale = scale / TotalWeight(target, weight, ignored);
                Store(gradInput, (at::exp(Widened(logProb)) * wanted.sum(1, true) - wanted) * scale);
              }));
