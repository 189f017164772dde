#include "runtime/virtual_memory.h"

#include <sys/mman.h>

#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

#include "runtime/blocks.h"
#include "runtime/boundary.h"
#include "runtime/device.h"
#include "runtime/error.h"
#include "runtime/forked.h"
#include "runtime/mappings.h"
#include "runtime/own_memory.h"
#include "runtime/queue.h"

// Address ranges are reserved as pages without access; physical memory is mapped into them.

namespace simulator {
namespace {

Blocks& Reserved() {
  static auto* reserved = new Blocks;
  return *reserved;
}

bool ReservePages(void* at, size_t bytes, int extraFlags, void** reserved) {
  const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | extraFlags;
  *reserved = mmap(at, bytes, PROT_NONE, flags, -1, 0);
  return *reserved != MAP_FAILED;
}

Blocks& BlocksFor(const Device* device) { return device == nullptr ? HostBlocks() : MappedBlocks(); }

aclError FindOwner(const aclrtMemLocation& location, Device** device) {
  switch (location.type) {
    case ACL_MEM_LOCATION_TYPE_DEVICE:
      return FindDevice(location.id, device);
    case ACL_MEM_LOCATION_TYPE_HOST:
    case ACL_MEM_LOCATION_TYPE_HOST_NUMA:
      *device = nullptr;
      return RefuseIfForked();
    default:
      return Fail(ACL_ERROR_INVALID_PARAM, "physical memory is either of a device or of the host");
  }
}

aclError CheckMapping(char* address, size_t bytes, size_t offset, const Physical& physical) {
  if (offset != 0 || bytes != physical.Bytes()) {
    return Fail(ACL_ERROR_RT_PARAM_INVALID,
                "aclrtMapMem: only the whole of the physical memory can be mapped");
  }
  if (!Reserved().Cover(address, bytes)) {
    return Fail(ACL_ERROR_RT_PARAM_INVALID, "aclrtMapMem: outside a reserved range");
  }
  if (MappedBlocks().Touch(address, bytes) || HostBlocks().Touch(address, bytes)) {
    return Fail(ACL_ERROR_RT_PARAM_INVALID, "aclrtMapMem: memory is mapped there already");
  }
  return ACL_SUCCESS;
}

}  // namespace

Handles<PhysicalHandle>& PhysicalHandles() {
  static auto* handles = new Handles<PhysicalHandle>;
  return *handles;
}

aclError FindPhysical(const char* call, aclrtDrvMemHandle handle, std::shared_ptr<PhysicalHandle>* found) {
  if (const aclError error = RefuseIfForked()) return error;
  *found = PhysicalHandles().Find(handle);
  if (*found != nullptr) return ACL_SUCCESS;
  return Fail(ACL_ERROR_RT_INVALID_HANDLE, std::string(call) + ": not live physical memory");
}

}  // namespace simulator

using namespace simulator;

aclError aclrtReserveMemAddress(void** address, size_t bytes, size_t, void* wanted, uint64_t) {
  return Guarded("aclrtReserveMemAddress", [&]() -> aclError {
    if (address == nullptr || bytes == 0) {
      return Fail(ACL_ERROR_INVALID_PARAM, "aclrtReserveMemAddress: nothing to reserve, or no result");
    }
    const size_t reserved = WholePages(bytes);
    const int fixed = wanted == nullptr ? 0 : MAP_FIXED_NOREPLACE;
    if (reserved < bytes || !ReservePages(wanted, reserved, fixed, address)) {
      return Fail(ACL_ERROR_RT_MEMORY_ALLOCATION, "aclrtReserveMemAddress: no address range is free");
    }
    Reserved().Add({static_cast<char*>(*address), reserved, nullptr, nullptr});
    return ACL_SUCCESS;
  });
}

aclError aclrtReleaseMemAddress(void* address) {
  return Guarded("aclrtReleaseMemAddress", [&]() -> aclError {
    if (const aclError error = RefuseIfForked()) return error;
    const auto found = Reserved().At(address);
    if (found && (MappedBlocks().Touch(address, found->bytes) || HostBlocks().Touch(address, found->bytes))) {
      return Fail(ACL_ERROR_RT_PARAM_INVALID, "aclrtReleaseMemAddress: memory is still mapped in the range");
    }
    const auto range = Reserved().Remove(address);
    if (!range) return Fail(ACL_ERROR_RT_PARAM_INVALID, "aclrtReleaseMemAddress: not a reserved range");
    UnmapPages(address, range->bytes);
    return ACL_SUCCESS;
  });
}

aclError aclrtMallocPhysical(aclrtDrvMemHandle* handle, size_t bytes, const aclrtPhysicalMemProp* properties,
                             uint64_t) {
  return Guarded("aclrtMallocPhysical", [&]() -> aclError {
    if (handle == nullptr || properties == nullptr || bytes == 0 || bytes != WholePages(bytes)) {
      return Fail(ACL_ERROR_INVALID_PARAM,
                  "aclrtMallocPhysical: whole pages, properties and a result are needed");
    }
    Device* device = nullptr;
    if (const aclError error = FindOwner(properties->location, &device)) return error;
    std::shared_ptr<OwnMemory> memory;
    if (const aclError error = OwnMemory::Allocate(device, bytes, &memory)) return error;
    auto made = std::make_shared<PhysicalHandle>();
    made->physical = std::move(memory);
    made->properties = *properties;
    *handle = PhysicalHandles().Add(std::move(made));
    return ACL_SUCCESS;
  });
}

// The memory itself stays until it is mapped nowhere.
aclError aclrtFreePhysical(aclrtDrvMemHandle handle) {
  return Guarded("aclrtFreePhysical", [&]() -> aclError {
    std::shared_ptr<PhysicalHandle> found;
    if (const aclError error = FindPhysical("aclrtFreePhysical", handle, &found)) return error;
    if (--found->references == 0) PhysicalHandles().Remove(handle);
    return ACL_SUCCESS;
  });
}

aclError aclrtMapMem(void* address, size_t bytes, size_t offset, aclrtDrvMemHandle handle, uint64_t) {
  return Guarded("aclrtMapMem", [&]() -> aclError {
    std::shared_ptr<PhysicalHandle> found;
    if (const aclError error = FindPhysical("aclrtMapMem", handle, &found)) return error;
    const std::shared_ptr<Physical>& physical = found->physical;
    auto* begin = static_cast<char*>(address);
    if (const aclError error = CheckMapping(begin, bytes, offset, *physical)) return error;
    if (physical->Map(begin, 0, bytes) == nullptr) {
      return Fail(ACL_ERROR_RT_MEMORY_ALLOCATION, "aclrtMapMem: the host refused");
    }
    NoteMapping(begin, found);
    BlocksFor(physical->Owner()).Add({begin, bytes, physical->Owner(), physical});
    return ACL_SUCCESS;
  });
}

aclError aclrtUnmapMem(void* address) {
  return Guarded("aclrtUnmapMem", [&]() -> aclError {
    if (const aclError error = RefuseIfForked()) return error;
    const auto mapping = FindMapping(address);
    if (!mapping) {
      return Fail(ACL_ERROR_RT_PARAM_INVALID, "aclrtUnmapMem: nothing is mapped at this address");
    }
    Device* device = mapping->physical->Owner();
    if (device != nullptr) DrainStreams(*device);  // a queued task may still use the memory
    const auto block = BlocksFor(device).Remove(address);
    ForgetMapping(address);
    void* reserved = nullptr;
    if (block && !ReservePages(address, block->bytes, MAP_FIXED, &reserved)) {
      return Fail(ACL_ERROR_RT_MEMORY_FREE, "aclrtUnmapMem: the host refused");
    }
    return ACL_SUCCESS;
  });
}
