#include <algorithm>
#include <cstring>
#include <optional>
#include <sstream>
#include <string>

#include "acl/acl_rt.h"
#include "runtime/boundary.h"
#include "runtime/configuration.h"
#include "runtime/error.h"
#include "runtime/tree.h"

namespace simulator {
namespace {

template <size_t kSize>
void Write(char (&destination)[kSize], const std::string& text) {
  std::strncpy(destination, text.c_str(), kSize - 1);
  destination[kSize - 1] = '\0';
}

// The structure has what stands between dots, so CANN makes a dot of the hyphen and keeps a stage together
// with its number: 9.0.0-beta.2 is 9.0.0.beta2 there.
std::string Dotted(const std::string& version) {
  const size_t hyphen = version.find('-');
  if (hyphen == std::string::npos) return version;
  std::string stage = version.substr(hyphen + 1);
  stage.erase(std::remove(stage.begin(), stage.end(), '.'), stage.end());
  return version.substr(0, hyphen) + "." + stage;
}

aclCANNPackageVersion PartsOf(const std::string& version) {
  aclCANNPackageVersion parts{};
  Write(parts.version, version);
  std::istringstream text(version);
  for (auto* part : {&parts.majorVersion, &parts.minorVersion, &parts.releaseVersion, &parts.patchVersion}) {
    std::string value;
    Write(*part, std::getline(text, value, '.') ? value : "0");
  }
  return parts;
}

std::optional<std::string> VersionIn(const std::string& package) {
  const auto record = ReadTreeFile("share/info/" + package + "/version.info");
  const auto version = record.find("Version");
  return version == record.end() ? std::nullopt : std::optional(version->second);
}

// Of the driver, or of a package of the tree; some are spelled with hyphens there and some with underscores.
std::optional<std::string> VersionOf(std::string package) {
  if (package == "driver") return TheConfiguration().driverVersion;
  if (auto version = VersionIn(package)) return version;
  const bool hyphens = package.find('-') != std::string::npos;
  std::replace(package.begin(), package.end(), hyphens ? '-' : '_', hyphens ? '_' : '-');
  return VersionIn(package);
}

}  // namespace
}  // namespace simulator

using namespace simulator;

aclError aclsysGetCANNVersion(aclCANNPackageName name, aclCANNPackageVersion* version) {
  return Guarded("aclsysGetCANNVersion", [&]() -> aclError {
    if (version == nullptr) return Fail(ACL_ERROR_INVALID_PARAM, "aclsysGetCANNVersion: no result");
    const Configuration& simulated = TheConfiguration();
    *version = PartsOf(Dotted(name == ACL_PKG_NAME_DRIVER ? simulated.driverVersion : simulated.cannVersion));
    return ACL_SUCCESS;
  });
}

aclError aclsysGetVersionStr(char* packageName, char* version) {
  return Guarded("aclsysGetVersionStr", [&]() -> aclError {
    if (packageName == nullptr || version == nullptr) {
      return Fail(ACL_ERROR_INVALID_PARAM, "aclsysGetVersionStr: no package or no result");
    }
    const auto found = VersionOf(packageName);
    if (!found || found->size() >= ACL_PKG_VERSION_MAX_SIZE) {
      return Fail(ACL_ERROR_INVALID_FILE, TreeHome() + " has no package " + packageName);
    }
    std::memcpy(version, found->c_str(), found->size() + 1);
    return ACL_SUCCESS;
  });
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
