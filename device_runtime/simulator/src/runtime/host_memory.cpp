#include <cstdint>
#include <memory>
#include <string>

#include "acl/acl_rt.h"
#include "runtime/blocks.h"
#include "runtime/boundary.h"
#include "runtime/context.h"
#include "runtime/device.h"
#include "runtime/error.h"
#include "runtime/queue.h"

// Memory of the host that devices work with: pinned, so that copies need not wait for each other, or mapped,
// so that operators use it in place. Devices see it at the address it has on the host.

namespace simulator {
namespace {

constexpr uint64_t kMostBytes = uint64_t{1} << 46;  // no host has so much; rounding up cannot overflow

bool StartsAPage(const void* pointer) {
  const auto address = reinterpret_cast<uintptr_t>(pointer);
  return WholePages(address) == address;
}

aclError Allocate(const char* call, void** pointer, uint64_t bytes) {
  if (pointer == nullptr || bytes == 0) {
    return Fail(ACL_ERROR_INVALID_PARAM,
                std::string(call) + ": nothing to allocate, or no place for the pointer");
  }
  *pointer = bytes > kMostBytes ? nullptr : MapPages(WholePages(bytes));
  if (*pointer == nullptr)
    return Fail(ACL_ERROR_RT_MEMORY_ALLOCATION, std::string(call) + ": no memory left");
  HostBlocks().Add({static_cast<char*>(*pointer), WholePages(bytes), nullptr, nullptr});
  return ACL_SUCCESS;
}

aclError Free(const char* call, void* pointer) {
  const auto found = HostBlocks().At(pointer);
  if (!found || found->begin != pointer || found->physical != nullptr) {
    return Fail(ACL_ERROR_RT_PARAM_INVALID, std::string(call) + ": not memory of aclrtMallocHost");
  }
  RegisteredBlocks().Remove(pointer);
  if (HostBlocks().Remove(pointer)) UnmapPages(pointer, found->bytes);
  return ACL_SUCCESS;
}

aclError CheckRange(const char* call, const void* pointer, uint64_t bytes) {
  if (pointer == nullptr || bytes == 0 || bytes > kMostBytes) {
    return Fail(ACL_ERROR_INVALID_PARAM, std::string(call) + ": no memory to register");
  }
  std::shared_ptr<Context> context;
  return CurrentContext(&context);
}

aclError AlreadyRegistered(const char* call) {
  return Fail(ACL_ERROR_HOST_MEMORY_ALREADY_REGISTERED,
              std::string(call) + ": the memory is registered already, wholly or in part");
}

aclError MapToDevices(const char* call, void* pointer, uint64_t bytes) {
  if (!StartsAPage(pointer)) {
    return Fail(ACL_ERROR_RT_PARAM_INVALID, std::string(call) + ": the memory has to start with a page");
  }
  if (RegisteredBlocks().Touch(pointer, bytes)) return AlreadyRegistered(call);
  RegisteredBlocks().Add({static_cast<char*>(pointer), bytes, nullptr, nullptr});
  return ACL_SUCCESS;
}

aclError Pin(const char* call, void* pointer, uint64_t bytes) {
  if (PinnedBlocks().Touch(pointer, bytes) || HostBlocks().Touch(pointer, bytes)) {
    return AlreadyRegistered(call);
  }
  PinnedBlocks().Add({static_cast<char*>(pointer), bytes, nullptr, nullptr});
  return ACL_SUCCESS;
}

aclError Register(const char* call, void* pointer, uint64_t bytes, uint32_t flags) {
  if ((flags & ACL_HOST_REG_MAPPED) != 0) {
    if (const aclError error = MapToDevices(call, pointer, bytes)) return error;
  }
  if ((flags & ACL_HOST_REG_PINNED) == 0) return ACL_SUCCESS;
  const aclError error = Pin(call, pointer, bytes);
  if (error != ACL_SUCCESS && (flags & ACL_HOST_REG_MAPPED) != 0) RegisteredBlocks().Remove(pointer);
  return error;
}

}  // namespace
}  // namespace simulator

using namespace simulator;

aclError aclrtMallocHost(void** pointer, size_t bytes) {
  return Guarded("aclrtMallocHost", [&] { return Allocate("aclrtMallocHost", pointer, bytes); });
}

// The configuration says for which module, and whether devices see the memory at the same address, as they
// do.
aclError aclrtMallocHostWithCfg(void** pointer, uint64_t bytes, aclrtMallocConfig*) {
  return Guarded("aclrtMallocHostWithCfg",
                 [&] { return Allocate("aclrtMallocHostWithCfg", pointer, bytes); });
}

// Queued tasks may still use the memory: waiting for them is the caller's business.
aclError aclrtFreeHost(void* pointer) {
  return Guarded("aclrtFreeHost", [&] { return Free("aclrtFreeHost", pointer); });
}

aclError aclrtFreeHostWithDevSync(void* pointer) {
  return Guarded("aclrtFreeHostWithDevSync", [&]() -> aclError {
    std::shared_ptr<Context> context;
    if (const aclError error = CurrentContext(&context)) return error;
    DrainStreams(*context->device);
    return Free("aclrtFreeHostWithDevSync", pointer);
  });
}

aclError aclrtHostRegister(void* pointer, uint64_t bytes, aclrtHostRegisterType type, void** devicePointer) {
  return Guarded("aclrtHostRegister", [&]() -> aclError {
    if (devicePointer == nullptr) return Fail(ACL_ERROR_INVALID_PARAM, "aclrtHostRegister: no result");
    if (type != ACL_HOST_REGISTER_MAPPED) return Refuse("aclrtHostRegister(" + std::to_string(type) + ")");
    if (const aclError error = CheckRange("aclrtHostRegister", pointer, bytes)) return error;
    if (const aclError error = MapToDevices("aclrtHostRegister", pointer, bytes)) return error;
    *devicePointer = pointer;
    return ACL_SUCCESS;
  });
}

aclError aclrtHostRegisterV2(void* pointer, uint64_t bytes, uint32_t flags) {
  return Guarded("aclrtHostRegisterV2", [&]() -> aclError {
    constexpr uint32_t kReserved = ACL_HOST_REG_IOMEMORY | ACL_HOST_REG_READONLY;
    constexpr uint32_t kKnown = ACL_HOST_REG_MAPPED | ACL_HOST_REG_PINNED | kReserved;
    if (flags == 0 || (flags & ~kKnown) != 0) {
      return Fail(ACL_ERROR_RT_PARAM_INVALID, "aclrtHostRegisterV2: unknown flags");
    }
    if ((flags & kReserved) != 0) return Refuse("aclrtHostRegisterV2(" + std::to_string(flags) + ")");
    if (const aclError error = CheckRange("aclrtHostRegisterV2", pointer, bytes)) return error;
    return Register("aclrtHostRegisterV2", pointer, bytes, flags);
  });
}

aclError aclrtHostGetDevicePointer(void* hostPointer, void** devicePointer, uint32_t flags) {
  return Guarded("aclrtHostGetDevicePointer", [&]() -> aclError {
    if (hostPointer == nullptr || devicePointer == nullptr || flags != 0) {
      return Fail(ACL_ERROR_INVALID_PARAM, "aclrtHostGetDevicePointer: a pointer, a result and no flags");
    }
    if (!RegisteredBlocks().At(hostPointer)) {
      return Fail(ACL_ERROR_RT_PARAM_INVALID, "aclrtHostGetDevicePointer: not registered as mapped");
    }
    *devicePointer = hostPointer;
    return ACL_SUCCESS;
  });
}

aclError aclrtHostUnregister(void* pointer) {
  return Guarded("aclrtHostUnregister", [&]() -> aclError {
    const bool mapped = RegisteredBlocks().Remove(pointer).has_value();
    const bool pinned = PinnedBlocks().Remove(pointer).has_value();
    if (mapped || pinned) return ACL_SUCCESS;
    return Fail(ACL_ERROR_HOST_MEMORY_NOT_REGISTERED, "aclrtHostUnregister: the memory is not registered");
  });
}

aclError aclrtHostMemMapCapabilities(uint32_t deviceId, aclrtHacType, aclrtHostMemMapCapability* capability) {
  return Guarded("aclrtHostMemMapCapabilities", [&]() -> aclError {
    if (capability == nullptr) {
      return Fail(ACL_ERROR_INVALID_PARAM, "aclrtHostMemMapCapabilities: no result");
    }
    Device* device = nullptr;
    if (const aclError error = FindDevice(deviceId, &device)) return error;
    *capability = ACL_RT_HOST_MEM_MAP_SUPPORTED;
    return ACL_SUCCESS;
  });
}
