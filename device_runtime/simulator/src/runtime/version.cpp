#include <cstring>
#include <sstream>
#include <string>
#include <string_view>

#include "acl/acl_rt.h"
#include "runtime/configuration.h"
#include "runtime/error.h"

namespace simulator {
namespace {

template <size_t kSize>
void Write(char (&destination)[kSize], const std::string& text) {
  std::strncpy(destination, text.c_str(), kSize - 1);
  destination[kSize - 1] = '\0';
}

aclError NoDriver(const char* call) {
  return Fail(ACL_ERROR_INVALID_FILE, std::string(call) + ": a simulated CANN has no driver");
}

}  // namespace
}  // namespace simulator

using namespace simulator;

aclError aclsysGetCANNVersion(aclCANNPackageName name, aclCANNPackageVersion* version) {
  if (version == nullptr) return Fail(ACL_ERROR_INVALID_PARAM, "aclsysGetCANNVersion: no result");
  if (name == ACL_PKG_NAME_DRIVER) return NoDriver("aclsysGetCANNVersion");
  *version = {};
  Write(version->version, TheConfiguration().cannVersion);
  std::istringstream parts(TheConfiguration().cannVersion);
  std::string part;
  if (std::getline(parts, part, '.')) Write(version->majorVersion, part);
  if (std::getline(parts, part, '.')) Write(version->minorVersion, part);
  if (std::getline(parts, part, '.')) Write(version->releaseVersion, part);
  if (std::getline(parts, part, '.')) Write(version->patchVersion, part);
  return ACL_SUCCESS;
}

aclError aclsysGetVersionStr(char* packageName, char* version) {
  if (packageName == nullptr || version == nullptr) {
    return Fail(ACL_ERROR_INVALID_PARAM, "aclsysGetVersionStr: no package or no result");
  }
  if (std::string_view(packageName) == "driver") return NoDriver("aclsysGetVersionStr");
  const std::string& text = TheConfiguration().cannVersion;
  std::memcpy(version, text.c_str(), text.size() + 1);
  return ACL_SUCCESS;
}

aclError aclrtGetVersion(int32_t* major, int32_t* minor, int32_t* patch) {
  if (major == nullptr || minor == nullptr || patch == nullptr) {
    return Fail(ACL_ERROR_INVALID_PARAM, "aclrtGetVersion: no result");
  }
  *major = 1;  // of the interface, not of CANN
  *minor = 17;
  *patch = 0;
  return ACL_SUCCESS;
}
