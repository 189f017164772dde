#include "runtime/memory.h"

#include <memory>
#include <string>

#include "acl/acl_rt.h"
#include "runtime/blocks.h"
#include "runtime/boundary.h"
#include "runtime/configuration.h"
#include "runtime/context.h"
#include "runtime/device.h"
#include "runtime/error.h"
#include "runtime/queue.h"

namespace simulator {
namespace {

constexpr uint32_t kPageBytes = 4096;

std::string InMiB(size_t bytes) { return std::to_string(bytes / 1048576) + " MiB"; }

aclError OutOfMemory(const Device& device, size_t bytes) {
  return Fail(ACL_ERROR_RT_MEMORY_ALLOCATION, "device " + std::to_string(device.Id()) +
                                                  " is out of simulated memory: " + InMiB(bytes) +
                                                  " asked for, " + InMiB(device.Free()) + " of " +
                                                  InMiB(TheConfiguration().memory) + " free");
}

void Release(void* pointer, const Blocks::Block& block) {
  UnmapPages(pointer, block.bytes);
  block.device->GiveBack(block.bytes);
}

aclrtPtrAttributes Describe(const void* pointer) {
  aclrtPtrAttributes attributes{};
  attributes.pageSize = kPageBytes;
  attributes.location.type = ACL_MEM_LOCATION_TYPE_UNREGISTERED;
  if (HostBlocks().At(pointer)) {
    attributes.location.type = ACL_MEM_LOCATION_TYPE_HOST;
    return attributes;
  }
  auto block = DeviceBlocks().At(pointer);
  if (!block) block = MappedBlocks().At(pointer);
  if (block) {
    attributes.location.type = ACL_MEM_LOCATION_TYPE_DEVICE;
    attributes.location.id = static_cast<uint32_t>(block->device->Id());
  }
  return attributes;
}

}  // namespace

void FreeBlocks(const Device& device) {
  for (void* pointer : DeviceBlocks().Of(device)) {
    if (const auto block = DeviceBlocks().Remove(pointer)) Release(pointer, *block);
  }
}

}  // namespace simulator

using namespace simulator;

aclError aclrtMalloc(void** pointer, size_t bytes, aclrtMemMallocPolicy) {
  return Guarded("aclrtMalloc", [&]() -> aclError {
    if (pointer == nullptr || bytes == 0) {
      return Fail(ACL_ERROR_INVALID_PARAM, "aclrtMalloc: nothing to allocate, or no place for the pointer");
    }
    std::shared_ptr<Context> context;
    if (const aclError error = CurrentContext(&context)) return error;
    Device& device = *context->device;
    if (bytes > TheConfiguration().memory) return OutOfMemory(device, bytes);
    const size_t taken = WholePages(bytes);
    if (!device.Take(taken)) return OutOfMemory(device, bytes);
    *pointer = MapPages(taken);
    if (*pointer == nullptr) {
      device.GiveBack(taken);
      return Fail(ACL_ERROR_RT_MEMORY_ALLOCATION, "the host has no memory left for a simulated device");
    }
    DeviceBlocks().Add(*pointer, {taken, &device});
    return ACL_SUCCESS;
  });
}

aclError aclrtMallocAlign32(void** pointer, size_t bytes, aclrtMemMallocPolicy policy) {
  return aclrtMalloc(pointer, bytes, policy);  // pages are aligned well enough
}

aclError aclrtFree(void* pointer) {
  return Guarded("aclrtFree", [&]() -> aclError {
    const auto found = DeviceBlocks().At(pointer);
    if (!found)
      return Fail(ACL_ERROR_RT_PARAM_INVALID, "aclrtFree: the pointer is not allocated device memory");
    DrainStreams(*found->device);  // a queued task may still use the block
    const auto block = DeviceBlocks().Remove(pointer);
    if (!block) return Fail(ACL_ERROR_RT_PARAM_INVALID, "aclrtFree: the pointer is not the start of a block");
    Release(pointer, *block);
    return ACL_SUCCESS;
  });
}

aclError aclrtMallocHost(void** pointer, size_t bytes) {
  if (pointer == nullptr || bytes == 0) {
    return Fail(ACL_ERROR_INVALID_PARAM, "aclrtMallocHost: nothing to allocate, or no place for the pointer");
  }
  const size_t taken = WholePages(bytes);
  *pointer = MapPages(taken);
  if (*pointer == nullptr) return Fail(ACL_ERROR_RT_MEMORY_ALLOCATION, "aclrtMallocHost: no memory left");
  HostBlocks().Add(*pointer, {taken, nullptr});
  return ACL_SUCCESS;
}

aclError aclrtMallocHostWithCfg(void** pointer, uint64_t bytes, aclrtMallocConfig*) {
  return aclrtMallocHost(pointer, bytes);
}

aclError aclrtFreeHost(void* pointer) {
  const auto block = HostBlocks().Remove(pointer);
  if (!block) return Fail(ACL_ERROR_RT_PARAM_INVALID, "aclrtFreeHost: not memory of aclrtMallocHost");
  UnmapPages(pointer, block->bytes);
  return ACL_SUCCESS;
}

aclError aclrtGetMemInfo(aclrtMemAttr, size_t* free, size_t* total) {
  return Guarded("aclrtGetMemInfo", [&]() -> aclError {
    if (free == nullptr || total == nullptr) {
      return Fail(ACL_ERROR_INVALID_PARAM, "aclrtGetMemInfo: no place for the result");
    }
    std::shared_ptr<Context> context;
    if (const aclError error = CurrentContext(&context)) return error;
    *free = context->device->Free();
    *total = TheConfiguration().memory;
    return ACL_SUCCESS;
  });
}

aclError aclrtPointerGetAttributes(const void* pointer, aclrtPtrAttributes* attributes) {
  if (attributes == nullptr) return Fail(ACL_ERROR_INVALID_PARAM, "aclrtPointerGetAttributes: no result");
  *attributes = Describe(pointer);
  return ACL_SUCCESS;
}
