#include <array>
#include <string>

#include "check.h"
#include "runtime/configuration.h"

// The tests' tree is a CANN 9.1.0-beta.2 with driver 26.0.rc1 (tests/CMakeLists.txt).

namespace {

aclCANNPackageVersion PartsOf(aclCANNPackageName package) {
  aclCANNPackageVersion version{};
  CHECK_OK(aclsysGetCANNVersion(package, &version));
  return version;
}

void VersionsComeInParts() {
  const auto cann = PartsOf(ACL_PKG_NAME_CANN);
  CHECK(std::string(cann.version) == "9.1.0.beta2");
  CHECK(std::string(cann.majorVersion) == "9" && std::string(cann.minorVersion) == "1");
  CHECK(std::string(cann.releaseVersion) == "0" && std::string(cann.patchVersion) == "beta2");
  const auto driver = PartsOf(ACL_PKG_NAME_DRIVER);
  CHECK(std::string(driver.version) == "26.0.rc1");
  CHECK(std::string(driver.releaseVersion) == "rc1" && std::string(driver.patchVersion) == "0");
  CHECK(aclsysGetCANNVersion(ACL_PKG_NAME_CANN, nullptr) == ACL_ERROR_INVALID_PARAM);
}

std::string TextOf(std::string package) {
  std::array<char, ACL_PKG_VERSION_MAX_SIZE> version{};
  CHECK_OK(aclsysGetVersionStr(package.data(), version.data()));
  return version.data();
}

void VersionsComeAsTheFilesSpellThem() {
  CHECK(TextOf("simulator") == simulator::TheConfiguration().cannVersion);
  CHECK(TextOf("driver") == "26.0.rc1");
  std::string unknown = "no-such-package";
  std::array<char, ACL_PKG_VERSION_MAX_SIZE> version{};
  CHECK(aclsysGetVersionStr(unknown.data(), version.data()) == ACL_ERROR_INVALID_FILE);
  CHECK(aclsysGetVersionStr(nullptr, version.data()) == ACL_ERROR_INVALID_PARAM);
}

}  // namespace

int main() {
  VersionsComeInParts();
  VersionsComeAsTheFilesSpellThem();
  return checks::Result();
}
