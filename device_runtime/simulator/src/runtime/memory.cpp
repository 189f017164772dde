#include "runtime/memory.h"

#include <memory>
#include <string>
#include <utility>

#include "acl/acl_rt.h"
#include "runtime/blocks.h"
#include "runtime/boundary.h"
#include "runtime/configuration.h"
#include "runtime/context.h"
#include "runtime/device.h"
#include "runtime/error.h"
#include "runtime/forked.h"
#include "runtime/own_memory.h"
#include "runtime/queue.h"

namespace simulator {
namespace {

constexpr uint32_t kPageBytes = 4096;

// Where the memory is for this process. Memory of the host that devices can access is still on the host.
aclrtPtrAttributes Describe(const void* pointer) {
  aclrtPtrAttributes attributes{};
  attributes.pageSize = kPageBytes;
  attributes.location.type = ACL_MEM_LOCATION_TYPE_UNREGISTERED;
  if (const auto block = FindDeviceBlock(pointer)) {
    attributes.location.type = ACL_MEM_LOCATION_TYPE_DEVICE;
    attributes.location.id = static_cast<uint32_t>(block->device->Id());
  } else if (IsPinnedMemory(pointer, 1) || RegisteredBlocks().At(pointer)) {
    attributes.location.type = ACL_MEM_LOCATION_TYPE_HOST;
  }
  return attributes;
}

aclError Allocate(const char* call, void** pointer, size_t bytes) {
  if (pointer == nullptr || bytes == 0) {
    return Fail(ACL_ERROR_INVALID_PARAM,
                std::string(call) + ": nothing to allocate, or no place for the pointer");
  }
  std::shared_ptr<Context> context;
  if (const aclError error = CurrentContext(&context)) return error;
  std::shared_ptr<OwnMemory> memory;
  if (const aclError error = OwnMemory::Allocate(context->device, bytes, &memory)) return error;
  *pointer = memory->Map(nullptr, 0, memory->Bytes());
  if (*pointer == nullptr) return NoHostMemory();
  DeviceBlocks().Add({static_cast<char*>(*pointer), memory->Bytes(), context->device, memory});
  return ACL_SUCCESS;
}

// Waits for the streams of the device first: a queued task may still use the block. CANN does not wait, and
// such a task would fail there; here it would bring the process down.
aclError Free(const char* call, void* pointer) {
  const auto found = DeviceBlocks().At(pointer);
  if (!found) {
    return Fail(ACL_ERROR_RT_PARAM_INVALID,
                std::string(call) + ": the pointer is not allocated device memory");
  }
  if (const aclError error = RefuseIfForked()) return error;
  DrainStreams(*found->device);
  const auto block = DeviceBlocks().Remove(pointer);
  if (!block) {
    return Fail(ACL_ERROR_RT_PARAM_INVALID, std::string(call) + ": the pointer is not the start of a block");
  }
  UnmapPages(pointer, block->bytes);
  return ACL_SUCCESS;
}

}  // namespace

void FreeBlocks(const Device& device) {
  for (void* pointer : DeviceBlocks().Of(device)) {
    if (const auto block = DeviceBlocks().Remove(pointer)) UnmapPages(pointer, block->bytes);
  }
}

}  // namespace simulator

using namespace simulator;

// Which pages the memory is made of makes no difference here.
aclError aclrtMalloc(void** pointer, size_t bytes, aclrtMemMallocPolicy) {
  return Guarded("aclrtMalloc", [&] { return Allocate("aclrtMalloc", pointer, bytes); });
}

aclError aclrtMallocAlign32(void** pointer, size_t bytes, aclrtMemMallocPolicy) {
  return Guarded("aclrtMallocAlign32", [&] { return Allocate("aclrtMallocAlign32", pointer, bytes); });
}

aclError aclrtMallocCached(void** pointer, size_t bytes, aclrtMemMallocPolicy) {
  return Guarded("aclrtMallocCached", [&] { return Allocate("aclrtMallocCached", pointer, bytes); });
}

aclError aclrtMallocWithCfg(void** pointer, size_t bytes, aclrtMemMallocPolicy, aclrtMallocConfig*) {
  return Guarded("aclrtMallocWithCfg", [&] { return Allocate("aclrtMallocWithCfg", pointer, bytes); });
}

aclError aclrtFree(void* pointer) {
  return Guarded("aclrtFree", [&] { return Free("aclrtFree", pointer); });
}

aclError aclrtFreeWithDevSync(void* pointer) {
  return Guarded("aclrtFreeWithDevSync", [&] { return Free("aclrtFreeWithDevSync", pointer); });
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
  return Guarded("aclrtPointerGetAttributes", [&]() -> aclError {
    if (attributes == nullptr) return Fail(ACL_ERROR_INVALID_PARAM, "aclrtPointerGetAttributes: no result");
    *attributes = Describe(pointer);
    return ACL_SUCCESS;
  });
}

aclError aclrtMemGetAddressRange(void* pointer, void** begin, size_t* bytes) {
  return Guarded("aclrtMemGetAddressRange", [&]() -> aclError {
    auto block = FindDeviceBlock(pointer);
    if (!block) block = HostBlocks().At(pointer);
    if (!block) return Fail(ACL_ERROR_RT_PARAM_INVALID, "aclrtMemGetAddressRange: in no block of memory");
    if (begin != nullptr) *begin = block->begin;
    if (bytes != nullptr) *bytes = block->bytes;
    return ACL_SUCCESS;
  });
}

// The host and its devices see the same memory at once.
aclError aclrtMemFlush(void*, size_t) { return ACL_SUCCESS; }

aclError aclrtMemInvalidate(void*, size_t) { return ACL_SUCCESS; }
