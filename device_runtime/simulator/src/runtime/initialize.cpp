#include <array>
#include <atomic>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>

#include "acl/acl_mdl.h"
#include "acl/acl_rt.h"
#include "runtime/boundary.h"
#include "runtime/configuration.h"
#include "runtime/context.h"
#include "runtime/device.h"
#include "runtime/driver.h"
#include "runtime/error.h"
#include "runtime/forked.h"

namespace simulator {
namespace {

std::atomic<bool> initialized{false};

// The only entry of the configuration file that the simulated runtime acts on:
// {"defaultDevice": {"default_device": "0"}}.
int32_t DefaultDeviceIn(const std::string& json) {
  const size_t entry = json.find(R"("default_device")");
  if (entry == std::string::npos) return -1;
  std::array<char, 5> digits{};
  const int found = std::sscanf(json.c_str() + entry, R"("default_device" : "%4[0-9]")", digits.data());
  return found == 1 ? std::stoi(digits.data()) : -1;
}

aclError ReadConfiguration(const char* path) {
  if (path == nullptr || *path == '\0') return ACL_SUCCESS;
  std::ifstream file(path);
  if (!file) return Fail(ACL_ERROR_INVALID_FILE, std::string("aclInit: cannot read ") + path);
  const std::string json{std::istreambuf_iterator<char>(file), {}};
  SetDefaultDevice(DefaultDeviceIn(json));
  return ACL_SUCCESS;
}

}  // namespace
}  // namespace simulator

using namespace simulator;

aclError aclInit(const char* configurationPath) {
  return Guarded("aclInit", [&]() -> aclError {
    if (initialized) return Fail(ACL_ERROR_REPEAT_INITIALIZE, "aclInit was already called");
    if (!TheConfiguration().problem.empty()) return Fail(ACL_ERROR_INVALID_PARAM, TheConfiguration().problem);
    if (const aclError error = ReachDriver()) return error;
    if (const aclError error = ReadConfiguration(configurationPath)) return error;
    initialized = true;
    return ACL_SUCCESS;
  });
}

aclError aclFinalize() {
  return Guarded("aclFinalize", [&]() -> aclError {
    if (!initialized.exchange(false)) return Fail(ACL_ERROR_UNINITIALIZE, "aclFinalize without aclInit");
    SetDefaultDevice(-1);
    if (IsForkedFromUser()) return ACL_SUCCESS;  // what there is belongs to the parent
    for (const auto& device : Visible().devices) {
      while (device->Active()) device->Release();
      ReleaseResources(*device);
    }
    return ACL_SUCCESS;
  });
}

aclError aclmdlInitDump() { return Refuse("aclmdlInitDump"); }

aclError aclmdlSetDump(const char*) { return Refuse("aclmdlSetDump"); }

aclError aclmdlFinalizeDump() { return Refuse("aclmdlFinalizeDump"); }
