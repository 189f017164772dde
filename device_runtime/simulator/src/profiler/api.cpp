#include <memory>
#include <string>
#include <utility>

#include "acl/acl_prof.h"
#include "profiler/annotate.h"
#include "profiler/session.h"
#include "profiler/settings.h"
#include "runtime/device.h"
#include "runtime/error.h"

using namespace simulator;

aclError aclprofInit(const char* directory, size_t length) {
  if (directory == nullptr || length == 0) {
    return Fail(ACL_ERROR_INVALID_PARAM, "aclprofInit: no directory is given");
  }
  return profiler::Initialize(std::string(directory, length));
}

aclError aclprofFinalize() { return profiler::Finalize(); }

aclprofConfig* aclprofCreateConfig(uint32_t* devices, uint32_t count, aclprofAicoreMetrics /*metrics*/,
                                   const aclprofAicoreEvents* events, uint64_t data) {
  if (events != nullptr || (devices == nullptr && count > 0)) {
    Fail(ACL_ERROR_INVALID_PARAM, "aclprofCreateConfig: no list of devices, or one of events");
    return nullptr;
  }
  auto config = std::make_unique<aclprofConfig>();
  config->settings.data = data;
  for (uint32_t index = 0; index < count; ++index) {
    Device* device = nullptr;
    if (FindDevice(devices[index], &device) != ACL_SUCCESS) return nullptr;
    config->settings.devices.push_back(device->PhysicalId());
  }
  return config.release();
}

aclError aclprofDestroyConfig(const aclprofConfig* config) {
  if (config == nullptr) return Fail(ACL_ERROR_INVALID_PARAM, "aclprofDestroyConfig: config is null");
  delete config;
  return ACL_SUCCESS;
}

aclError aclprofSetConfig(aclprofConfigType type, const char* /*config*/, size_t /*length*/) {
  return Fail(ACL_ERROR_PROF_MODULES_UNSUPPORTED,
              "aclprofSetConfig(" + std::to_string(type) + ") is not implemented by the simulated CANN");
}

// What a recorder needs is made as it starts.
aclError aclprofWarmup(const aclprofConfig* config) {
  if (config == nullptr) return Fail(ACL_ERROR_INVALID_PARAM, "aclprofWarmup: config is null");
  if (profiler::Initialized()) return ACL_SUCCESS;
  return Fail(ACL_ERROR_PROF_NOT_RUN, "aclprofWarmup without aclprofInit");
}

aclError aclprofStart(const aclprofConfig* config) {
  if (config == nullptr) return Fail(ACL_ERROR_INVALID_PARAM, "aclprofStart: config is null");
  return profiler::Start(config->settings);
}

aclError aclprofStop(const aclprofConfig* config) {
  if (config == nullptr) return Fail(ACL_ERROR_INVALID_PARAM, "aclprofStop: config is null");
  return profiler::Stop();
}

// From here on devices that the process sets later are profiled as well.
aclError aclprofRegisterDeviceCallback() {
  const auto recorder = profiler::TheRecorder();
  if (recorder == nullptr) return Fail(ACL_ERROR_PROF_NOT_RUN, "profiling was not started");
  recorder->WatchEveryDevice();
  return ACL_SUCCESS;
}

aclError aclprofMarkEx(const char* message, size_t length, aclrtStream stream) {
  if (message == nullptr || length == 0) return Fail(ACL_ERROR_INVALID_PARAM, "aclprofMarkEx: no message");
  profiler::Mark("default", std::string(message, length), stream);
  return ACL_SUCCESS;
}
