// Connectionist temporal classification.
#include <algorithm>

#include "binding.h"
#include "checks.h"
#include "store.h"

namespace simulator::operators {
namespace {

// Logarithms of shape [steps, sequences, classes].
void CheckSequences(Tensor logProbs, Sizes inputLengths, Sizes targetLengths, int64_t blank) {
  TORCH_CHECK_VALUE(logProbs.dim() == 3, "the logarithms have shape ", logProbs.sizes());
  const auto sequences = static_cast<size_t>(logProbs.size(1));
  TORCH_CHECK_VALUE(inputLengths.size() == sequences && targetLengths.size() == sequences, "there are ",
                    sequences, " sequences, ", inputLengths.size(), " lengths of them and ",
                    targetLengths.size(), " of targets");
  TORCH_CHECK_VALUE(blank >= 0 && blank < logProbs.size(2), "the class ", blank, " of the blank is none of ",
                    logProbs.size(2));
  for (const auto length : inputLengths) {
    TORCH_CHECK_VALUE(length >= 0 && length <= logProbs.size(0), "a sequence of ", length, " of ",
                      logProbs.size(0), " steps");
  }
}

Plan CtcLoss(Tensor logProbs, Tensor targets, Sizes inputLengths, Sizes targetLengths, int64_t blank,
             bool zeroInfinity, Out loss, Out logAlpha) {
  CheckSequences(logProbs, inputLengths, targetLengths, blank);
  CheckShape(loss, {logProbs.size(1)});
  return [=]() mutable {
    const auto [losses, alphas] =
        at::_ctc_loss(logProbs, targets, inputLengths, targetLengths, blank, zeroInfinity);
    Store(loss, losses);
    // The device pads the last dimension; only the pair of operators reads it.
    TORCH_CHECK_VALUE(logAlpha.size(2) >= alphas.size(2), "logAlpha has shape ", logAlpha.sizes(),
                      ", at least ", alphas.sizes(), " is needed");
    logAlpha.narrow(2, 0, alphas.size(2)).copy_(alphas);
  };
}

Plan CtcLossBackward(Tensor gradOutput, Tensor logProbs, Tensor targets, Sizes inputLengths,
                     Sizes targetLengths, Tensor loss, Tensor logAlpha, int64_t blank, bool zeroInfinity,
                     Out out) {
  CheckSequences(logProbs, inputLengths, targetLengths, blank);
  CheckSameShape(logProbs, out);
  return [=]() mutable {
    const auto longest =
        targetLengths.empty() ? 0 : *std::max_element(targetLengths.begin(), targetLengths.end());
    const auto alphas = logAlpha.narrow(2, 0, 2 * longest + 1).contiguous();
    Store(out, at::_ctc_loss_backward(gradOutput, logProbs, targets, inputLengths, targetLengths, loss,
                                      alphas, blank, zeroInfinity));
  };
}

}  // namespace
}  // namespace simulator::operators

ACLNN(CtcLoss, Planning(CtcLoss));
ACLNN(CtcLossBackward, Planning(CtcLossBackward));
