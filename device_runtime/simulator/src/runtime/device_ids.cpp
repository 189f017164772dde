#include <cstdint>
#include <string>

#include "acl/acl_rt.h"
#include "runtime/boundary.h"
#include "runtime/device.h"
#include "runtime/driver.h"
#include "runtime/error.h"

// A user id counts the visible devices. Logical ids count those of the machine, and so do physical ones:
// without a container that sees only some of them they are the same.

namespace simulator {
namespace {

aclError NoResult(const char* call) {
  return Fail(ACL_ERROR_INVALID_PARAM, std::string(call) + ": no result");
}

aclError SameOfTheMachine(const char* call, int32_t id, int32_t* same) {
  if (same == nullptr) return NoResult(call);
  for (const int32_t present : DevicesOfTheMachine()) {
    if (present != id) continue;
    *same = id;
    return ACL_SUCCESS;
  }
  return Fail(ACL_ERROR_RT_INVALID_DEVICEID,
              std::string(call) + ": there is no device " + std::to_string(id));
}

}  // namespace
}  // namespace simulator

using namespace simulator;

aclError aclrtGetLogicDevIdByUserDevId(int32_t userDeviceId, int32_t* logicDeviceId) {
  return Guarded("aclrtGetLogicDevIdByUserDevId", [&]() -> aclError {
    if (logicDeviceId == nullptr) return NoResult("aclrtGetLogicDevIdByUserDevId");
    Device* device = nullptr;
    if (const aclError error = FindDevice(userDeviceId, &device)) return error;
    *logicDeviceId = device->PhysicalId();
    return ACL_SUCCESS;
  });
}

aclError aclrtGetUserDevIdByLogicDevId(int32_t logicDeviceId, int32_t* userDeviceId) {
  return Guarded("aclrtGetUserDevIdByLogicDevId", [&]() -> aclError {
    if (userDeviceId == nullptr) return NoResult("aclrtGetUserDevIdByLogicDevId");
    const Device* device = VisibleDevice(logicDeviceId);
    if (device == nullptr) {
      return Fail(ACL_ERROR_RT_INVALID_DEVICEID, "aclrtGetUserDevIdByLogicDevId: device " +
                                                     std::to_string(logicDeviceId) + " is not visible");
    }
    *userDeviceId = device->Id();
    return ACL_SUCCESS;
  });
}

aclError aclrtGetPhyDevIdByLogicDevId(int32_t logicDeviceId, int32_t* physicalDeviceId) {
  return Guarded("aclrtGetPhyDevIdByLogicDevId", [&] {
    return SameOfTheMachine("aclrtGetPhyDevIdByLogicDevId", logicDeviceId, physicalDeviceId);
  });
}

aclError aclrtGetLogicDevIdByPhyDevId(int32_t physicalDeviceId, int32_t* logicDeviceId) {
  return Guarded("aclrtGetLogicDevIdByPhyDevId", [&] {
    return SameOfTheMachine("aclrtGetLogicDevIdByPhyDevId", physicalDeviceId, logicDeviceId);
  });
}

aclError aclrtGetRunMode(aclrtRunMode* mode) {
  if (mode == nullptr) return NoResult("aclrtGetRunMode");
  *mode = ACL_HOST;  // the program runs on the host, not on the device's own processor
  return ACL_SUCCESS;
}
