#include "runtime/memory.h"

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <future>
#include <string>
#include <vector>

#include "check.h"
#include "runtime/stream.h"

using simulator::IsDeviceMemory;

namespace {

constexpr size_t kMiB = 1 << 20;

size_t Free() {
  size_t free = 0;
  size_t total = 0;
  CHECK_OK(aclrtGetMemInfo(ACL_HBM_MEM, &free, &total));
  CHECK(total == 64 * kMiB);
  return free;
}

char* Allocate(size_t bytes) {
  void* pointer = nullptr;
  CHECK_OK(aclrtMallocAlign32(&pointer, bytes, ACL_MEM_MALLOC_HUGE_FIRST));
  return static_cast<char*>(pointer);
}

void TheLimitHolds() {
  char* most = Allocate(60 * kMiB);
  CHECK(Free() == 4 * kMiB);
  void* pointer = nullptr;
  CHECK(aclrtMalloc(&pointer, 5 * kMiB, ACL_MEM_MALLOC_HUGE_FIRST) == ACL_ERROR_RT_MEMORY_ALLOCATION);
  const char* message = aclGetRecentErrMsg();
  CHECK(message != nullptr &&
        std::string(message).find("5 MiB asked for, 4 MiB of 64 MiB free") != std::string::npos);
  CHECK(aclrtMalloc(&pointer, ~size_t{0}, ACL_MEM_MALLOC_HUGE_FIRST) == ACL_ERROR_RT_MEMORY_ALLOCATION);
  CHECK(aclrtMalloc(&pointer, 0, ACL_MEM_MALLOC_HUGE_FIRST) == ACL_ERROR_INVALID_PARAM);
  CHECK_OK(aclrtFree(most));
  CHECK(Free() == 64 * kMiB);
}

void EveryDeviceHasItsOwn() {
  char* onFirst = Allocate(60 * kMiB);
  CHECK_OK(aclrtSetDevice(1));
  char* onSecond = Allocate(60 * kMiB);
  aclrtPtrAttributes attributes{};
  CHECK_OK(aclrtPointerGetAttributes(onSecond + 5, &attributes));
  CHECK(attributes.location.type == ACL_MEM_LOCATION_TYPE_DEVICE && attributes.location.id == 1);
  CHECK_OK(aclrtFree(onFirst));
  CHECK_OK(aclrtFree(onSecond));
  CHECK_OK(aclrtSetDevice(0));
}

void BoundsAreKnown() {
  char* block = Allocate(kMiB);
  CHECK(IsDeviceMemory(block, kMiB));
  CHECK(IsDeviceMemory(block + 100, kMiB - 100));
  CHECK(!IsDeviceMemory(block + 100, kMiB));
  CHECK(!IsDeviceMemory(static_cast<const void*>(&block), 1));
  CHECK(aclrtFree(block + 4096) == ACL_ERROR_RT_PARAM_INVALID);
  CHECK_OK(aclrtFree(block));
  CHECK(!IsDeviceMemory(block, 1));
  CHECK(aclrtFree(block) == ACL_ERROR_RT_PARAM_INVALID);
}

void HostMemoryIsKnown() {
  void* pinned = nullptr;
  std::vector<char> ordinary(100);
  aclrtPtrAttributes attributes{};
  CHECK_OK(aclrtMallocHost(&pinned, kMiB));
  CHECK_OK(aclrtPointerGetAttributes(static_cast<char*>(pinned) + 77, &attributes));
  CHECK(attributes.location.type == ACL_MEM_LOCATION_TYPE_HOST);
  CHECK_OK(aclrtPointerGetAttributes(ordinary.data(), &attributes));
  CHECK(attributes.location.type == ACL_MEM_LOCATION_TYPE_UNREGISTERED);
  CHECK_OK(aclrtFreeHost(pinned));
  CHECK(aclrtFreeHost(pinned) == ACL_ERROR_RT_PARAM_INVALID);
}

void FreeWaitsForQueuedWork() {
  char* block = Allocate(kMiB);
  std::promise<void> gate;
  bool used = false;
  CHECK_OK(simulator::Enqueue(nullptr, [&used, block, opened = gate.get_future().share()] {
    opened.wait();
    std::memset(block, 1, kMiB);
    used = true;
    return ACL_SUCCESS;
  }));
  auto freed = std::async(std::launch::async, [block] { return aclrtFree(block); });
  CHECK(freed.wait_for(std::chrono::milliseconds(20)) == std::future_status::timeout);
  gate.set_value();
  CHECK(freed.get() == ACL_SUCCESS);
  CHECK(used);
}

aclrtDrvMemHandle Physical(size_t bytes) {
  aclrtPhysicalMemProp properties{};
  properties.location.type = ACL_MEM_LOCATION_TYPE_DEVICE;
  aclrtDrvMemHandle handle = nullptr;
  CHECK_OK(aclrtMallocPhysical(&handle, bytes, &properties, 0));
  return handle;
}

void MappingsGrowAndShrink() {
  void* reserved = nullptr;
  CHECK_OK(aclrtReserveMemAddress(&reserved, 8 * kMiB, 0, nullptr, 1));
  char* range = static_cast<char*>(reserved);
  CHECK(!IsDeviceMemory(range, 1));
  aclrtDrvMemHandle first = Physical(2 * kMiB);
  aclrtDrvMemHandle second = Physical(2 * kMiB);
  CHECK(Free() == 60 * kMiB);
  CHECK_OK(aclrtMapMem(range, 2 * kMiB, 0, first, 0));
  CHECK_OK(aclrtMapMem(range + 2 * kMiB, 2 * kMiB, 0, second, 0));
  CHECK(IsDeviceMemory(range + kMiB, 3 * kMiB));  // over the seam
  CHECK(!IsDeviceMemory(range + kMiB, 4 * kMiB));
  CHECK(aclrtMapMem(range + 7 * kMiB, 2 * kMiB, 0, first, 0) == ACL_ERROR_RT_PARAM_INVALID);
  CHECK(aclrtMapMem(range + kMiB, kMiB, 0, second, 0) == ACL_ERROR_RT_PARAM_INVALID);  // in use already
  CHECK(aclrtReleaseMemAddress(reserved) == ACL_ERROR_RT_PARAM_INVALID);
  std::memset(range, 3, 4 * kMiB);
  CHECK_OK(aclrtMapMem(range + 4 * kMiB, 2 * kMiB, 0, first, 0));
  CHECK(range[4 * kMiB] == 3);  // the same memory at a second address
  CHECK_OK(aclrtUnmapMem(range + 2 * kMiB));
  CHECK(IsDeviceMemory(range, 2 * kMiB));
  CHECK(!IsDeviceMemory(range, 4 * kMiB));  // into the gap
  CHECK_OK(aclrtUnmapMem(range));
  CHECK_OK(aclrtUnmapMem(range + 4 * kMiB));
  CHECK(aclrtUnmapMem(range) == ACL_ERROR_RT_PARAM_INVALID);
  CHECK(!IsDeviceMemory(range, 1));
  CHECK_OK(aclrtFreePhysical(first));
  CHECK_OK(aclrtFreePhysical(second));
  CHECK(aclrtFreePhysical(second) == ACL_ERROR_RT_INVALID_HANDLE);
  CHECK_OK(aclrtReleaseMemAddress(reserved));
  CHECK(Free() == 64 * kMiB);
}

}  // namespace

int main() {
  setenv("ASCENDENV_SIM_MEMORY", "64MiB", 1);
  setenv("ASCENDENV_SIM_DEVICES", "2", 1);
  CHECK_OK(aclrtSetDevice(0));
  TheLimitHolds();
  EveryDeviceHasItsOwn();
  BoundsAreKnown();
  HostMemoryIsKnown();
  FreeWaitsForQueuedWork();
  MappingsGrowAndShrink();
  return checks::Result();
}
