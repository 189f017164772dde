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

void HostMemoryIsRegistered() {
  void* pages = nullptr;
  void* onDevice = nullptr;
  aclrtPtrAttributes attributes{};
  CHECK_OK(aclrtMallocHost(&pages, kMiB));
  CHECK_OK(aclrtHostRegister(pages, kMiB, ACL_HOST_REGISTER_MAPPED, &onDevice));
  CHECK(IsDeviceMemory(onDevice, kMiB));
  CHECK_OK(aclrtHostGetDevicePointer(pages, &onDevice, 0));
  CHECK(onDevice == pages);
  CHECK_OK(aclrtPointerGetAttributes(onDevice, &attributes));
  CHECK(attributes.location.type == ACL_MEM_LOCATION_TYPE_HOST);
  CHECK(aclrtHostRegisterV2(pages, 4096, ACL_HOST_REG_MAPPED) == ACL_ERROR_HOST_MEMORY_ALREADY_REGISTERED);
  CHECK(aclrtHostRegisterV2(pages, 4096, ACL_HOST_REG_PINNED) == ACL_ERROR_HOST_MEMORY_ALREADY_REGISTERED);
  CHECK(aclrtHostRegisterV2(pages, 4096, 0) == ACL_ERROR_RT_PARAM_INVALID);
  CHECK_OK(aclrtHostUnregister(pages));
  CHECK(!IsDeviceMemory(pages, 1));
  CHECK(aclrtHostUnregister(pages) == ACL_ERROR_HOST_MEMORY_NOT_REGISTERED);
  CHECK(aclrtHostGetDevicePointer(pages, &onDevice, 0) == ACL_ERROR_RT_PARAM_INVALID);
  CHECK_OK(aclrtFreeHostWithDevSync(pages));

  alignas(4096) static char ordinary[8192];
  CHECK(aclrtHostRegisterV2(ordinary + 1, 4096, ACL_HOST_REG_MAPPED) == ACL_ERROR_RT_PARAM_INVALID);
  CHECK_OK(aclrtHostRegisterV2(ordinary, 8192, ACL_HOST_REG_MAPPED | ACL_HOST_REG_PINNED));
  CHECK_OK(aclrtPointerGetAttributes(ordinary + 5000, &attributes));
  CHECK(attributes.location.type == ACL_MEM_LOCATION_TYPE_HOST);
  CHECK(aclrtFreeHost(ordinary) == ACL_ERROR_RT_PARAM_INVALID);
  CHECK_OK(aclrtHostUnregister(ordinary));
  aclrtHostMemMapCapability capability = ACL_RT_HOST_MEM_MAP_NOT_SUPPORTED;
  CHECK_OK(aclrtHostMemMapCapabilities(0, ACL_RT_HAC_TYPE_AIC, &capability));
  CHECK(capability == ACL_RT_HOST_MEM_MAP_SUPPORTED);
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

void MappedMemoryIsKnown() {
  aclrtDrvMemHandle handle = Physical(2 * kMiB);
  void* range = nullptr;
  CHECK_OK(aclrtReserveMemAddress(&range, 4 * kMiB, 0, nullptr, 0));
  CHECK(aclrtMapMem(range, kMiB, 0, handle, 0) == ACL_ERROR_RT_PARAM_INVALID);  // a part
  CHECK_OK(aclrtMapMem(range, 2 * kMiB, 0, handle, 0));
  CHECK_OK(aclrtFreePhysical(handle));
  CHECK(Free() == 62 * kMiB);  // it is mapped

  aclrtMemAccessDesc access{};
  access.flags = ACL_RT_MEM_ACCESS_FLAGS_READ;
  access.location = {1, ACL_MEM_LOCATION_TYPE_DEVICE};
  uint64_t flags = 9;
  CHECK_OK(aclrtMemGetAccess(range, &access.location, &flags));
  CHECK(flags == ACL_RT_MEM_ACCESS_FLAGS_NONE);
  CHECK(aclrtMemSetAccess(range, kMiB, &access, 1) == ACL_ERROR_RT_PARAM_INVALID);
  CHECK_OK(aclrtMemSetAccess(range, 2 * kMiB, &access, 1));
  CHECK_OK(aclrtMemGetAccess(range, &access.location, &flags));
  CHECK(flags == ACL_RT_MEM_ACCESS_FLAGS_READ);
  aclrtMemLocation own{0, ACL_MEM_LOCATION_TYPE_DEVICE};
  CHECK_OK(aclrtMemGetAccess(range, &own, &flags));
  CHECK(flags == ACL_RT_MEM_ACCESS_FLAGS_READWRITE);

  aclrtDrvMemHandle retained = nullptr;
  aclrtPhysicalMemProp properties{};
  CHECK_OK(aclrtMemRetainAllocationHandle(range, &retained));
  CHECK_OK(aclrtMemGetAllocationPropertiesFromHandle(retained, &properties));
  CHECK(properties.location.type == ACL_MEM_LOCATION_TYPE_DEVICE && properties.location.id == 0);
  void* begin = nullptr;
  size_t bytes = 0;
  CHECK_OK(aclrtMemGetAddressRange(static_cast<char*>(range) + 77, &begin, &bytes));
  CHECK(begin == range && bytes == 2 * kMiB);
  CHECK_OK(aclrtUnmapMem(range));
  CHECK(Free() == 62 * kMiB);  // it is retained
  CHECK_OK(aclrtFreePhysical(retained));
  CHECK(Free() == 64 * kMiB);
  CHECK_OK(aclrtReleaseMemAddress(range));
  size_t granularity = 0;
  CHECK_OK(aclrtMemGetAllocationGranularity(&properties, ACL_RT_MEM_ALLOC_GRANULARITY_MINIMUM, &granularity));
  CHECK(granularity == 2 * kMiB);
}

void PhysicalMemoryMayBeOfTheHost() {
  aclrtPhysicalMemProp properties{};
  properties.location.type = ACL_MEM_LOCATION_TYPE_HOST;
  aclrtDrvMemHandle handle = nullptr;
  CHECK_OK(aclrtMallocPhysical(&handle, 2 * kMiB, &properties, 0));
  CHECK(Free() == 64 * kMiB);
  void* range = nullptr;
  CHECK_OK(aclrtReserveMemAddress(&range, 2 * kMiB, 0, nullptr, 0));
  CHECK_OK(aclrtMapMem(range, 2 * kMiB, 0, handle, 0));
  std::memset(range, 1, 2 * kMiB);
  aclrtPtrAttributes attributes{};
  CHECK_OK(aclrtPointerGetAttributes(range, &attributes));
  CHECK(attributes.location.type == ACL_MEM_LOCATION_TYPE_HOST);
  CHECK(!IsDeviceMemory(range, 1));
  CHECK(aclrtFreeHost(range) == ACL_ERROR_RT_PARAM_INVALID);
  CHECK_OK(aclrtUnmapMem(range));
  CHECK_OK(aclrtFreePhysical(handle));
  CHECK_OK(aclrtReleaseMemAddress(range));
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
  HostMemoryIsRegistered();
  FreeWaitsForQueuedWork();
  MappingsGrowAndShrink();
  MappedMemoryIsKnown();
  PhysicalMemoryMayBeOfTheHost();
  return checks::Result();
}
