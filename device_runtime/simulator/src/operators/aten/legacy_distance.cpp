// Distances in the older aclop interface.
#include "distance.h"
#include "legacy.h"
#include "store.h"

namespace simulator::operators {
namespace {

// What it is given is expanded to [..., rows, other rows, coordinates].
const LegacyOperator cdistGradient{
    "CdistGrad", [](const LegacyCall& call) {
      if (call.Input(0).numel() == 0) {
        call.Output(0).zero_();
        return;
      }
      const auto at = [&](size_t index) { return Widened(call.Input(index)); };
      const auto p = NormOrder(call.Attribute("p", 2.0F));
      const auto first = at(1).select(-2, 0).contiguous(), second = at(2).select(-3, 0).contiguous();
      const auto gradient = at(0).select(-1, 0).contiguous(), distance = at(3).select(-1, 0).contiguous();
      call.Return(0, at::_cdist_backward(gradient, first, second, p, distance));
    }};

}  // namespace
}  // namespace simulator::operators
