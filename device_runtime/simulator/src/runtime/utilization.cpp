#include "acl/acl_rt.h"
#include "runtime/boundary.h"
#include "runtime/configuration.h"
#include "runtime/device.h"
#include "runtime/error.h"

using namespace simulator;

namespace {

constexpr int32_t kNotSupported = -1;  // what torch_npu takes for "no such figure"

}  // namespace

// There are no cores here. What is known is when kernels of this process ran, and how much memory all
// processes have taken.
aclError aclrtGetDeviceUtilizationRate(int32_t deviceId, aclrtUtilizationInfo* info) {
  return Guarded("aclrtGetDeviceUtilizationRate", [&]() -> aclError {
    Device* device = nullptr;
    if (info == nullptr || info->utilizationExtend != nullptr) {
      return Fail(ACL_ERROR_INVALID_PARAM, "aclrtGetDeviceUtilizationRate: no result, or an extended one");
    }
    if (const aclError error = FindDevice(deviceId, &device)) return error;
    const size_t memory = TheConfiguration().memory;
    info->cubeUtilization = kNotSupported;
    info->vectorUtilization = device->Kernels().TakePercent();
    info->aicpuUtilization = kNotSupported;
    info->memoryUtilization = static_cast<int32_t>((memory - device->Free()) * 100 / memory);
    return ACL_SUCCESS;
  });
}
