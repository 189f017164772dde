#include "runtime/soc.h"

#include <cstdlib>

#include "check.h"
#include "process.h"

namespace {

struct Expected {
  const char* soc;
  int32_t infNan;
  int32_t bfloat16;
  aclrtFloatOverflowMode mode;
};

void IsReported(const Expected& expected) {
  int32_t value = -1;
  size_t count = 9;
  const aclCannAttr* attributes = nullptr;
  aclrtFloatOverflowMode mode = ACL_RT_OVERFLOW_MODE_UNDEF;
  CHECK_OK(aclGetCannAttribute(ACL_CANN_ATTR_INF_NAN, &value));
  CHECK(value == expected.infNan);
  CHECK_OK(aclGetCannAttribute(ACL_CANN_ATTR_BF16, &value));
  CHECK(value == expected.bfloat16);
  CHECK_OK(aclGetCannAttributeList(&attributes, &count));
  CHECK(count == static_cast<size_t>(expected.infNan + expected.bfloat16));
  CHECK_OK(aclrtGetDeviceSatMode(&mode));
  CHECK(mode == expected.mode);
}

void EachChipReportsWhatItCanDo() {
  constexpr auto kInfNan = ACL_RT_OVERFLOW_MODE_INFNAN;
  constexpr auto kSaturation = ACL_RT_OVERFLOW_MODE_SATURATION;
  for (const Expected& expected : {Expected{"Ascend910A", 0, 0, kSaturation},
                                   {"Ascend910ProB", 0, 0, kSaturation},
                                   {"Ascend910B", 0, 0, kSaturation},
                                   {"Ascend310P3", 0, 0, kSaturation},
                                   {"Ascend910B3", 1, 1, kInfNan},
                                   {"Ascend910B4-1", 1, 1, kInfNan},
                                   {"Ascend910_9391", 1, 1, kInfNan},
                                   {"Ascend950PR_9589", 1, 1, kInfNan}}) {
    checks::Process process([&](checks::Process&) {
      setenv("ASCENDENV_SIM_SOC", expected.soc, 1);
      IsReported(expected);
    });
    CHECK(process.EndsWell());
  }
}

}  // namespace

int main() {
  EachChipReportsWhatItCanDo();
  return checks::Result();
}
