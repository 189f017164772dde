#include "runtime/soc.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace simulator {
namespace {

// The chips with `support_inf_nan=1` and `support_bf16=1`, by how their names begin: always both. From the
// platform_config of the CANN runtime, where 910A, 910ProA, 910ProB, the older 910B, 310P and 310B have
// neither; 950 from torch_npu (IsSupportInfNan, IsBF16Supported in NpuVariables.cpp).
constexpr std::array<std::string_view, 6> kWithBoth = {"Ascend910B1", "Ascend910B2",  "Ascend910B3",
                                                       "Ascend910B4", "Ascend910_93", "Ascend950"};

}  // namespace

SocTraits TraitsOf(const std::string& soc) {
  const bool both = std::any_of(kWithBoth.begin(), kWithBoth.end(), [&](std::string_view beginning) {
    return soc.compare(0, beginning.size(), beginning) == 0;
  });
  return {both, both};
}

}  // namespace simulator
