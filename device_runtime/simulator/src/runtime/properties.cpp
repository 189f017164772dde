#include <unistd.h>

#include <array>
#include <cstring>
#include <string>

#include "acl/acl_rt.h"
#include "runtime/boundary.h"
#include "runtime/configuration.h"
#include "runtime/device.h"
#include "runtime/error.h"
#include "runtime/soc.h"

using namespace simulator;

const char* aclrtGetSocName() { return TheConfiguration().soc.c_str(); }

aclError aclGetDeviceCapability(uint32_t deviceId, aclDeviceInfo info, int64_t* value) {
  return Guarded("aclGetDeviceCapability", [&]() -> aclError {
    switch (info) {
      case ACL_DEVICE_INFO_AI_CORE_NUM:
        return aclrtGetDeviceInfo(deviceId, ACL_DEV_ATTR_CUBE_CORE_NUM, value);
      case ACL_DEVICE_INFO_VECTOR_CORE_NUM:
        return aclrtGetDeviceInfo(deviceId, ACL_DEV_ATTR_VECTOR_CORE_NUM, value);
      case ACL_DEVICE_INFO_L2_SIZE:
        return aclrtGetDeviceInfo(deviceId, ACL_DEV_ATTR_L2_CACHE_SIZE, value);
      default:
        return Fail(ACL_ERROR_INVALID_PARAM, "aclGetDeviceCapability: unknown property");
    }
  });
}

aclError aclrtGetDeviceInfo(uint32_t deviceId, aclrtDevAttr attribute, int64_t* value) {
  return Guarded("aclrtGetDeviceInfo", [&]() -> aclError {
    Device* device = nullptr;
    if (value == nullptr) return Fail(ACL_ERROR_INVALID_PARAM, "aclrtGetDeviceInfo: no result");
    if (const aclError error = FindDevice(deviceId, &device)) return error;
    const Configuration& configuration = TheConfiguration();
    switch (attribute) {
      case ACL_DEV_ATTR_AICORE_CORE_NUM:
      case ACL_DEV_ATTR_CUBE_CORE_NUM:
        *value = configuration.cubeCores;
        return ACL_SUCCESS;
      case ACL_DEV_ATTR_VECTOR_CORE_NUM:
        *value = configuration.vectorCores;
        return ACL_SUCCESS;
      case ACL_DEV_ATTR_TOTAL_GLOBAL_MEM_SIZE:
        *value = static_cast<int64_t>(configuration.memory);
        return ACL_SUCCESS;
      case ACL_DEV_ATTR_L2_CACHE_SIZE:
        *value = configuration.cacheBytes;
        return ACL_SUCCESS;
      case ACL_DEV_ATTR_PHY_CHIP_ID:
        *value = device->PhysicalId();
        return ACL_SUCCESS;
      case ACL_DEV_ATTR_IS_VIRTUAL:
        *value = 0;
        return ACL_SUCCESS;
      default:
        return Refuse("aclrtGetDeviceInfo(" + std::to_string(attribute) + ")");
    }
  });
}

aclError aclrtDeviceGetUuid(int32_t deviceId, aclrtUuid* uuid) {
  return Guarded("aclrtDeviceGetUuid", [&]() -> aclError {
    Device* device = nullptr;
    if (uuid == nullptr) return Fail(ACL_ERROR_INVALID_PARAM, "aclrtDeviceGetUuid: no result");
    if (const aclError error = FindDevice(deviceId, &device)) return error;
    *uuid = {};
    std::memcpy(uuid->bytes, "simulated-npu", 13);
    uuid->bytes[15] = static_cast<char>(device->PhysicalId());
    return ACL_SUCCESS;
  });
}

aclError aclrtDeviceGetBareTgid(int32_t* pid) {
  if (pid == nullptr) return Fail(ACL_ERROR_INVALID_PARAM, "aclrtDeviceGetBareTgid: no result");
  *pid = getpid();
  return ACL_SUCCESS;
}

aclError aclGetCannAttributeList(const aclCannAttr** attributes, size_t* count) {
  return Guarded("aclGetCannAttributeList", [&]() -> aclError {
    static constexpr std::array<aclCannAttr, 2> kSupported = {ACL_CANN_ATTR_INF_NAN, ACL_CANN_ATTR_BF16};
    if (attributes == nullptr || count == nullptr) {
      return Fail(ACL_ERROR_INVALID_PARAM, "aclGetCannAttributeList: no result");
    }
    *attributes = kSupported.data();
    *count = TraitsOf(TheConfiguration().soc).infNan ? kSupported.size() : 0;  // a chip has both or neither
    return ACL_SUCCESS;
  });
}

aclError aclGetCannAttribute(aclCannAttr attribute, int32_t* value) {
  return Guarded("aclGetCannAttribute", [&]() -> aclError {
    if (value == nullptr) return Fail(ACL_ERROR_INVALID_PARAM, "aclGetCannAttribute: no result");
    const SocTraits traits = TraitsOf(TheConfiguration().soc);
    switch (attribute) {
      case ACL_CANN_ATTR_INF_NAN:
        *value = traits.infNan ? 1 : 0;
        return ACL_SUCCESS;
      case ACL_CANN_ATTR_BF16:
        *value = traits.bfloat16 ? 1 : 0;
        return ACL_SUCCESS;
      case ACL_CANN_ATTR_JIT_COMPILE:
        *value = 0;  // there is no operator compiler
        return ACL_SUCCESS;
      default:
        return Fail(ACL_ERROR_INVALID_PARAM, "aclGetCannAttribute: unknown attribute");
    }
  });
}
