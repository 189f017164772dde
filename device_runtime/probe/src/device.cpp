#include <dlfcn.h>

#include <array>

#include "probe.h"
#include "resources.h"

namespace probe {
namespace {

// The layout of aclCANNPackageVersion and the call that fills it, declared here because older CANN headers
// lack them; the call is looked up at run time for the same reason.
struct PackageVersion {
  std::array<char, 128> version;
  std::array<char, size_t{4} * 64> parts;
  std::array<char, 128> reserved;
};
using PackageVersionCall = aclError (*)(int package, PackageVersion* version);
constexpr int kCannPackage = 0;

}  // namespace

uint32_t DeviceCount() {
  Initialize();
  uint32_t count = 0;
  CheckAcl(aclrtGetDeviceCount(&count), "aclrtGetDeviceCount");
  return count;
}

std::string SocName() {
  Initialize();
  const char* name = aclrtGetSocName();
  if (name == nullptr) throw DeviceFailure(ACL_ERROR_FAILURE, "aclrtGetSocName", "the runtime knows no SoC");
  return name;
}

std::optional<std::string> CannVersion() {
  const auto query = reinterpret_cast<PackageVersionCall>(dlsym(RTLD_DEFAULT, "aclsysGetCANNVersion"));
  if (query == nullptr) return std::nullopt;
  PackageVersion version{};
  CheckAcl(query(kCannPackage, &version), "aclsysGetCANNVersion");
  version.version.back() = '\0';
  return version.version.data();
}

// Chips without HBM report their memory as DDR.
MemoryInfo GetMemoryInfo(int device) {
  const DeviceScope scope(device);
  MemoryInfo info{};
  CheckAcl(aclrtGetMemInfo(ACL_HBM_MEM, &info.free, &info.total), "aclrtGetMemInfo");
  if (info.total == 0) CheckAcl(aclrtGetMemInfo(ACL_DDR_MEM, &info.free, &info.total), "aclrtGetMemInfo");
  return info;
}

void Allocate(int device, size_t bytes) {
  const DeviceScope scope(device);
  const DeviceMemory memory(bytes);
}

}  // namespace probe
