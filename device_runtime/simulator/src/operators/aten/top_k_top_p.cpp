// Leaves of each row of logits the k largest, and of these the most probable whose probabilities add up to p.
#include "binding.h"
#include "checks.h"
#include "dtypes.h"
#include "store.h"

namespace simulator::operators {
namespace {

constexpr double kOut = -std::numeric_limits<double>::infinity();

Plan ApplyTopKTopP(Tensor logits, OptionalTensor p, OptionalTensor k, Out out) {
  CheckFloat("logits", logits);
  CheckSameShape(logits, out);
  TORCH_CHECK_VALUE(logits.dim() == 2, "logits of shape ", logits.sizes(), " are no rows");
  if (p) CheckShape(*p, {logits.size(0)});
  if (k) CheckDtype("k", *k, {at::kInt});
  if (k) CheckShape(*k, {logits.size(0)});
  return [=]() mutable {
    auto [sorted, places] = at::sort(Widened(logits), true, 1, false);
    if (k) {
      const auto place = (logits.size(1) - k->to(at::kLong)).clamp(0, logits.size(1) - 1).unsqueeze(1);
      sorted = sorted.masked_fill(sorted.lt(sorted.gather(1, place)), kOut);
    }
    if (p) {
      auto outside = at::softmax(sorted, 1).cumsum(1).le(1 - Widened(*p).unsqueeze(1));
      outside.select(1, -1).fill_(false);
      sorted = sorted.masked_fill(outside, kOut);
    }
    Store(out, at::empty_like(sorted).scatter(1, places, sorted));
  };
}

}  // namespace
}  // namespace simulator::operators

ACLNN(ApplyTopKTopP, Planning(ApplyTopKTopP));
