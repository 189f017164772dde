// Random numbers in the older aclop interface.
#include "draws.h"
#include "legacy.h"
#include "store.h"

namespace simulator::operators {
namespace {

// Inputs: shape, key, counter and algorithm; the counter ends with the offset.
const LegacyOperator statelessNormal{
    "StatelessRandomNormalV2", [](const LegacyCall& call) {
      const auto generator = GeneratorAt(call.Numbers(1).at(0), call.Numbers(2).back());
      call.Return(0, at::empty_like(call.Output(0)).normal_(0, 1, generator));
    }};

}  // namespace
}  // namespace simulator::operators
