#include <cstdint>

#include "acl/acl_base.h"

// Of the driver's own library, torch_npu's profiler asks for the clock: libascend_hal. The version is that of
// ascend_hal_base.h in hicann/runtime. There is no counter of a driver to stamp events with, so torch_npu
// takes CLOCK_MONOTONIC_RAW, as the simulated runtime does.

namespace {

constexpr int32_t kVersion = 0x072419;
constexpr int32_t kNotSupported = 0xfffe;  // DRV_ERROR_NOT_SUPPORT

}  // namespace

extern "C" {

ACL_FUNC_VISIBILITY int32_t halGetAPIVersion(int32_t* version) {
  *version = kVersion;
  return 0;
}

ACL_FUNC_VISIBILITY int32_t halGetDeviceInfo(uint32_t /*device*/, int32_t /*module*/, int32_t /*kind*/,
                                             int64_t* /*value*/) {
  return kNotSupported;
}
}
