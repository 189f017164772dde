// GELU whose result is quantised.
#include "binding.h"
#include "dtypes.h"
#include "quantize.h"
#include "store.h"

namespace simulator::operators {
namespace {

Plan GeluQuant(Tensor self, OptionalTensor scale, OptionalTensor offset, Text approximate, Text quantMode,
               Text roundMode, int64_t /*dstType, told by the result*/, Out y, OptionalOut outScale) {
  CheckFloat("self", self);
  CheckHolds(y, self.sizes());
  TORCH_CHECK_VALUE(approximate == "none" || approximate == "tanh", "the approximation ", approximate,
                    " is not known");
  const bool dynamic = quantMode == "dynamic";
  TORCH_CHECK_VALUE(dynamic || quantMode == "static", "the quantisation mode ", quantMode, " is not known");
  TORCH_CHECK_VALUE(dynamic || scale, "the static quantisation asks for a scale");
  TORCH_CHECK_VALUE(!dynamic || outScale, "the dynamic quantisation has a scale as a result");
  if (scale)
    TORCH_CHECK_VALUE(scale->numel() == 1 || scale->numel() == self.size(-1), "a scale of shape ",
                      scale->sizes(), " for an input of shape ", self.sizes());
  Rounded(at::zeros({1}), roundMode);  // refuses a mode that is not known
  return [=]() mutable {
    auto values = at::gelu(Widened(self), approximate);
    if (scale) values = values * Widened(*scale);
    if (!dynamic) return StoreQuantised(y, offset ? values + Widened(*offset) : values, roundMode);
    const auto quantised = QuantiseRows(values, RangeOf(y.scalar_type()).greatest);
    StoreQuantised(y, quantised.values, roundMode);
    Store(outScale, quantised.scale);
  };
}

}  // namespace
}  // namespace simulator::operators

ACLNN(GeluQuant, Planning(GeluQuant));
