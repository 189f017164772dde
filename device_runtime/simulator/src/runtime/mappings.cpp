#include "runtime/mappings.h"

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>

#include "acl/acl_rt.h"
#include "runtime/blocks.h"
#include "runtime/boundary.h"
#include "runtime/device.h"
#include "runtime/error.h"
#include "runtime/forked.h"

namespace simulator {
namespace {

constexpr size_t kHugePage = size_t{2} << 20;
constexpr size_t kGiantPage = size_t{1} << 30;

struct Location {
  aclrtMemLocationType type;
  uint32_t id;
  bool operator<(const Location& other) const {
    return type != other.type ? type < other.type : id < other.id;
  }
};

struct Mapping {
  std::shared_ptr<PhysicalHandle> handle;
  std::map<Location, aclrtMemAccessFlags> access;  // where it was set
};

struct Mappings {
  std::mutex mutex;
  std::unordered_map<const void*, Mapping> all;
};

Mappings& TheMappings() {
  static auto* mappings = new Mappings;
  return *mappings;
}

bool IsGiant(aclrtMemAttr attribute) {
  return attribute == ACL_HBM_MEM_HUGE1G || attribute == ACL_HBM_MEM_P2P_HUGE1G ||
         attribute == ACL_MEM_HUGE1G || attribute == ACL_MEM_P2P_HUGE1G;
}

// The memory is accessible from where it is without being told.
aclrtMemAccessFlags DefaultAccess(const Mapping& mapping, const Location& location) {
  const aclrtMemLocation& own = mapping.handle->properties.location;
  const bool there =
      own.type == location.type && (own.type != ACL_MEM_LOCATION_TYPE_DEVICE || own.id == location.id);
  return there ? ACL_RT_MEM_ACCESS_FLAGS_READWRITE : ACL_RT_MEM_ACCESS_FLAGS_NONE;
}

aclError CheckAccess(const aclrtMemAccessDesc& access) {
  Device* device = nullptr;
  switch (access.location.type) {
    case ACL_MEM_LOCATION_TYPE_DEVICE:
      return FindDevice(access.location.id, &device);
    case ACL_MEM_LOCATION_TYPE_HOST:
      return ACL_SUCCESS;
    default:
      return Fail(ACL_ERROR_INVALID_PARAM, "access to memory is either from a device or from the host");
  }
}

aclError NotMapped(const char* call) {
  return Fail(ACL_ERROR_RT_PARAM_INVALID,
              std::string(call) + ": no memory is mapped with this start and size");
}

}  // namespace

void NoteMapping(const void* address, std::shared_ptr<PhysicalHandle> handle) {
  const std::lock_guard<std::mutex> lock(TheMappings().mutex);
  TheMappings().all[address] = Mapping{std::move(handle), {}};
}

std::shared_ptr<PhysicalHandle> FindMapping(const void* address) {
  const std::lock_guard<std::mutex> lock(TheMappings().mutex);
  const auto found = TheMappings().all.find(address);
  return found == TheMappings().all.end() ? nullptr : found->second.handle;
}

void ForgetMapping(const void* address) {
  const std::lock_guard<std::mutex> lock(TheMappings().mutex);
  TheMappings().all.erase(address);
}

}  // namespace simulator

using namespace simulator;

// Access is kept and can be read back; it is not enforced, since every device can reach all memory here.
aclError aclrtMemSetAccess(void* address, size_t bytes, aclrtMemAccessDesc* accesses, size_t count) {
  return Guarded("aclrtMemSetAccess", [&]() -> aclError {
    if (address == nullptr || accesses == nullptr || count == 0) {
      return Fail(ACL_ERROR_INVALID_PARAM, "aclrtMemSetAccess: an address and accesses are needed");
    }
    if (const aclError error = RefuseIfForked()) return error;
    for (size_t i = 0; i < count; ++i) {
      if (const aclError error = CheckAccess(accesses[i])) return error;
    }
    const std::lock_guard<std::mutex> lock(TheMappings().mutex);
    const auto found = TheMappings().all.find(address);
    if (found == TheMappings().all.end() || found->second.handle->physical->Bytes() != bytes) {
      return NotMapped("aclrtMemSetAccess");
    }
    for (size_t i = 0; i < count; ++i) {
      found->second.access[{accesses[i].location.type, accesses[i].location.id}] = accesses[i].flags;
    }
    return ACL_SUCCESS;
  });
}

aclError aclrtMemGetAccess(void* address, aclrtMemLocation* location, uint64_t* flags) {
  return Guarded("aclrtMemGetAccess", [&]() -> aclError {
    if (address == nullptr || location == nullptr || flags == nullptr) {
      return Fail(ACL_ERROR_INVALID_PARAM,
                  "aclrtMemGetAccess: an address, a location and a result are needed");
    }
    const std::lock_guard<std::mutex> lock(TheMappings().mutex);
    const auto found = TheMappings().all.find(address);
    if (found == TheMappings().all.end()) return NotMapped("aclrtMemGetAccess");
    const Location wanted{location->type, location->id};
    const auto set = found->second.access.find(wanted);
    *flags = set == found->second.access.end() ? DefaultAccess(found->second, wanted) : set->second;
    return ACL_SUCCESS;
  });
}

aclError aclrtMemRetainAllocationHandle(void* address, aclrtDrvMemHandle* handle) {
  return Guarded("aclrtMemRetainAllocationHandle", [&]() -> aclError {
    if (handle == nullptr) return Fail(ACL_ERROR_INVALID_PARAM, "aclrtMemRetainAllocationHandle: no result");
    if (const aclError error = RefuseIfForked()) return error;
    auto found = FindMapping(address);
    if (found == nullptr) return NotMapped("aclrtMemRetainAllocationHandle");
    ++found->references;
    *handle = PhysicalHandles().Add(std::move(found));
    return ACL_SUCCESS;
  });
}

aclError aclrtMemGetAllocationPropertiesFromHandle(aclrtDrvMemHandle handle,
                                                   aclrtPhysicalMemProp* properties) {
  return Guarded("aclrtMemGetAllocationPropertiesFromHandle", [&]() -> aclError {
    const char* call = "aclrtMemGetAllocationPropertiesFromHandle";
    if (properties == nullptr) return Fail(ACL_ERROR_INVALID_PARAM, std::string(call) + ": no result");
    std::shared_ptr<PhysicalHandle> found;
    if (const aclError error = FindPhysical(call, handle, &found)) return error;
    *properties = found->properties;
    return ACL_SUCCESS;
  });
}

// Devices take huge pages for normal ones too.
aclError aclrtMemGetAllocationGranularity(aclrtPhysicalMemProp* properties, aclrtMemGranularityOptions option,
                                          size_t* granularity) {
  return Guarded("aclrtMemGetAllocationGranularity", [&]() -> aclError {
    if (properties == nullptr || granularity == nullptr ||
        (option != ACL_RT_MEM_ALLOC_GRANULARITY_MINIMUM &&
         option != ACL_RT_MEM_ALLOC_GRANULARITY_RECOMMENDED)) {
      return Fail(ACL_ERROR_INVALID_PARAM,
                  "aclrtMemGetAllocationGranularity: properties, a known option and a result are needed");
    }
    *granularity = IsGiant(properties->memAttr) ? kGiantPage : kHugePage;
    return ACL_SUCCESS;
  });
}
