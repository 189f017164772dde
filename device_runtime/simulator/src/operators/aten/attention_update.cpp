// Joins the results of attention to parts of the keys.
#include "binding.h"
#include "checks.h"
#include "dtypes.h"
#include "store.h"

namespace simulator::operators {
namespace {

enum UpdateType : int64_t { kResult = 0, kResultAndLogSums = 1 };

Plan AttentionUpdate(Tensors logSums, Tensors results, int64_t type, Out result, OptionalOut logSumsOut) {
  TORCH_CHECK_VALUE(!results.empty() && logSums.size() == results.size(), logSums.size(),
                    " logarithms of sums for ", results.size(), " results");
  TORCH_CHECK_VALUE(type == kResult || (type == kResultAndLogSums && logSumsOut), "the update type ", type,
                    " is not known, or its output is missing");
  for (size_t part = 0; part < results.size(); ++part) {
    CheckFloat("a result", results[part]);
    CheckDtype("a logarithm of sums", logSums[part], {at::kFloat});
    CheckShape(logSums[part], {results[part].size(0)});
    CheckSameShape(results[part], result);
  }
  return [=]() mutable {
    const auto each = at::stack(logSums);
    const auto all = at::logsumexp(each, 0);
    const auto shares = (each - all).exp().unsqueeze(-1);
    Store(result, (Widened(at::stack(results)) * shares).sum(0));
    if (type == kResultAndLogSums) Store(logSumsOut, all);
  };
}

}  // namespace
}  // namespace simulator::operators

// No public header declares it: its parameters are those that torch_npu passes.
ACLNN(AttentionUpdate, Planning(AttentionUpdate));
