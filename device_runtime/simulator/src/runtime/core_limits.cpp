#include <array>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "acl/acl_rt.h"
#include "runtime/boundary.h"
#include "runtime/configuration.h"
#include "runtime/context.h"
#include "runtime/device.h"
#include "runtime/error.h"
#include "runtime/queue.h"

// How many cores operators may use. Simulated operators have none: the limits are kept and said again.

namespace simulator {
namespace {

struct OfDevices {
  std::mutex mutex;
  std::map<const Device*, CoreLimits> limits;
};

OfDevices& TheDevices() {
  static auto* devices = new OfDevices;
  return *devices;
}

std::weak_ptr<Stream>& StreamOfThisThread() {
  thread_local std::weak_ptr<Stream> stream;
  return stream;
}

uint32_t CoresOf(size_t type) {
  const Configuration& configuration = TheConfiguration();
  return static_cast<uint32_t>(type == ACL_RT_DEV_RES_CUBE_CORE ? configuration.cubeCores
                                                                : configuration.vectorCores);
}

uint32_t LimitOf(const Device& device, size_t type) {
  const std::lock_guard<std::mutex> lock(TheDevices().mutex);
  return TheDevices().limits[&device].at(type).value_or(CoresOf(type));
}

uint32_t LimitOf(const Stream& stream, size_t type) {
  return stream.Settings().coreLimits.at(type).value_or(LimitOf(stream.Owner(), type));
}

aclError CheckType(const char* call, aclrtDevResLimitType type) {
  if (type == ACL_RT_DEV_RES_CUBE_CORE || type == ACL_RT_DEV_RES_VECTOR_CORE) return ACL_SUCCESS;
  return Fail(ACL_ERROR_RT_PARAM_INVALID, std::string(call) + ": there are cube cores and vector cores");
}

aclError CheckLimit(const char* call, aclrtDevResLimitType type, uint32_t value) {
  if (const aclError error = CheckType(call, type)) return error;
  if (value <= CoresOf(type)) return ACL_SUCCESS;
  return Fail(ACL_ERROR_RT_PARAM_INVALID,
              std::string(call) + ": the device has only " + std::to_string(CoresOf(type)) + " such cores");
}

}  // namespace
}  // namespace simulator

using namespace simulator;

aclError aclrtGetDeviceResLimit(int32_t deviceId, aclrtDevResLimitType type, uint32_t* value) {
  return Guarded("aclrtGetDeviceResLimit", [&]() -> aclError {
    Device* device = nullptr;
    if (value == nullptr) return Fail(ACL_ERROR_INVALID_PARAM, "aclrtGetDeviceResLimit: no result");
    if (const aclError error = CheckType("aclrtGetDeviceResLimit", type)) return error;
    if (const aclError error = FindDevice(deviceId, &device)) return error;
    *value = LimitOf(*device, type);
    return ACL_SUCCESS;
  });
}

aclError aclrtSetDeviceResLimit(int32_t deviceId, aclrtDevResLimitType type, uint32_t value) {
  return Guarded("aclrtSetDeviceResLimit", [&]() -> aclError {
    Device* device = nullptr;
    if (const aclError error = CheckLimit("aclrtSetDeviceResLimit", type, value)) return error;
    if (const aclError error = FindDevice(deviceId, &device)) return error;
    const std::lock_guard<std::mutex> lock(TheDevices().mutex);
    TheDevices().limits[device].at(type) = value;
    return ACL_SUCCESS;
  });
}

aclError aclrtResetDeviceResLimit(int32_t deviceId) {
  return Guarded("aclrtResetDeviceResLimit", [&]() -> aclError {
    Device* device = nullptr;
    if (const aclError error = FindDevice(deviceId, &device)) return error;
    const std::lock_guard<std::mutex> lock(TheDevices().mutex);
    TheDevices().limits[device] = {};
    return ACL_SUCCESS;
  });
}

aclError aclrtGetStreamResLimit(aclrtStream handle, aclrtDevResLimitType type, uint32_t* value) {
  return Guarded("aclrtGetStreamResLimit", [&]() -> aclError {
    std::shared_ptr<Stream> stream;
    if (value == nullptr) return Fail(ACL_ERROR_INVALID_PARAM, "aclrtGetStreamResLimit: no result");
    if (const aclError error = CheckType("aclrtGetStreamResLimit", type)) return error;
    if (const aclError error = FindStream(handle, &stream)) return error;
    *value = LimitOf(*stream, type);
    return ACL_SUCCESS;
  });
}

aclError aclrtSetStreamResLimit(aclrtStream handle, aclrtDevResLimitType type, uint32_t value) {
  return Guarded("aclrtSetStreamResLimit", [&]() -> aclError {
    std::shared_ptr<Stream> stream;
    if (const aclError error = CheckLimit("aclrtSetStreamResLimit", type, value)) return error;
    if (const aclError error = FindStream(handle, &stream)) return error;
    stream->Change([=](StreamSettings& settings) { settings.coreLimits.at(type) = value; });
    return ACL_SUCCESS;
  });
}

aclError aclrtResetStreamResLimit(aclrtStream handle) {
  return Guarded("aclrtResetStreamResLimit", [&]() -> aclError {
    std::shared_ptr<Stream> stream;
    if (const aclError error = FindStream(handle, &stream)) return error;
    stream->Change([](StreamSettings& settings) { settings.coreLimits = {}; });
    return ACL_SUCCESS;
  });
}

aclError aclrtUseStreamResInCurrentThread(aclrtStream handle) {
  return Guarded("aclrtUseStreamResInCurrentThread", [&]() -> aclError {
    std::shared_ptr<Stream> stream;
    if (const aclError error = FindStream(handle, &stream)) return error;
    StreamOfThisThread() = stream;
    return ACL_SUCCESS;
  });
}

// As in CANN, another stream than the one in use is no error.
aclError aclrtUnuseStreamResInCurrentThread(aclrtStream handle) {
  return Guarded("aclrtUnuseStreamResInCurrentThread", [&]() -> aclError {
    std::shared_ptr<Stream> stream;
    if (const aclError error = FindStream(handle, &stream)) return error;
    if (StreamOfThisThread().lock() == stream) StreamOfThisThread().reset();
    return ACL_SUCCESS;
  });
}

aclError aclrtGetResInCurrentThread(aclrtDevResLimitType type, uint32_t* value) {
  return Guarded("aclrtGetResInCurrentThread", [&]() -> aclError {
    if (value == nullptr) return Fail(ACL_ERROR_INVALID_PARAM, "aclrtGetResInCurrentThread: no result");
    if (const aclError error = CheckType("aclrtGetResInCurrentThread", type)) return error;
    if (const std::shared_ptr<Stream> stream = StreamOfThisThread().lock()) {
      *value = LimitOf(*stream, type);
      return ACL_SUCCESS;
    }
    std::shared_ptr<Context> context;
    if (const aclError error = CurrentContext(&context)) return error;
    *value = LimitOf(*context->device, type);
    return ACL_SUCCESS;
  });
}
