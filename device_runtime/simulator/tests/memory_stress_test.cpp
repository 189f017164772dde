#include <array>
#include <atomic>
#include <cstdlib>
#include <functional>
#include <thread>
#include <vector>

#include "check.h"
#include "runtime/ledger.h"
#include "runtime/memory.h"

// Everything about memory from many threads at once, for the sanitizers to look at.

namespace {

constexpr size_t kMiB = 1 << 20;
constexpr int kRounds = 100;

void Blocks() {
  for (int i = 0; i < kRounds; ++i) {
    void* block = nullptr;
    const aclError error = aclrtMalloc(&block, kMiB, ACL_MEM_MALLOC_HUGE_FIRST);
    if (error == ACL_ERROR_RT_MEMORY_ALLOCATION) continue;  // others may have it all
    CHECK_OK(error);
    CHECK_OK(aclrtMemset(block, kMiB, i, 64));
    CHECK(simulator::IsDeviceMemory(block, kMiB));
    CHECK_OK(aclrtFree(block));
  }
}

void Copies() {
  aclrtStream stream = nullptr;
  CHECK_OK(aclrtCreateStream(&stream));
  void* pinned = nullptr;
  CHECK_OK(aclrtMallocHost(&pinned, 4096));
  std::array<char, 4096> pageable{};
  for (int i = 0; i < kRounds; ++i) {
    void* block = nullptr;
    if (aclrtMalloc(&block, 4096, ACL_MEM_MALLOC_HUGE_FIRST) != ACL_SUCCESS) continue;
    CHECK_OK(aclrtMemcpyAsync(block, 4096, pinned, 4096, ACL_MEMCPY_HOST_TO_DEVICE, stream));
    CHECK_OK(aclrtMemcpyAsync(pageable.data(), 4096, block, 4096, ACL_MEMCPY_DEVICE_TO_HOST, stream));
    CHECK_OK(aclrtFree(block));
  }
  CHECK_OK(aclrtDestroyStream(stream));
  CHECK_OK(aclrtFreeHost(pinned));
}

void Mappings() {
  for (int i = 0; i < kRounds; ++i) {
    aclrtPhysicalMemProp properties{};
    properties.location = {0, ACL_MEM_LOCATION_TYPE_DEVICE};
    aclrtDrvMemHandle handle = nullptr;
    if (aclrtMallocPhysical(&handle, kMiB, &properties, 0) != ACL_SUCCESS) continue;
    void* range = nullptr;
    CHECK_OK(aclrtReserveMemAddress(&range, kMiB, 0, nullptr, 0));
    CHECK_OK(aclrtMapMem(range, kMiB, 0, handle, 0));
    aclrtDrvMemHandle retained = nullptr;
    CHECK_OK(aclrtMemRetainAllocationHandle(range, &retained));
    CHECK_OK(aclrtFreePhysical(handle));
    CHECK_OK(aclrtUnmapMem(range));
    CHECK_OK(aclrtFreePhysical(retained));
    CHECK_OK(aclrtReleaseMemAddress(range));
  }
}

void Keys() {
  for (int i = 0; i < kRounds; ++i) {
    void* block = nullptr;
    if (aclrtMalloc(&block, 4096, ACL_MEM_MALLOC_HUGE_FIRST) != ACL_SUCCESS) continue;
    std::array<char, 65> key{};
    CHECK_OK(aclrtIpcMemGetExportKey(block, 4096, key.data(), key.size(), 0));
    CHECK_OK(aclrtIpcMemClose(key.data()));
    CHECK_OK(aclrtFree(block));
  }
}

void Questions() {
  for (int i = 0; i < kRounds; ++i) {
    size_t free = 0;
    size_t total = 0;
    CHECK_OK(aclrtGetMemInfo(ACL_HBM_MEM, &free, &total));
    CHECK(free <= total);
    CHECK(simulator::LiveUses().size() == 2);  // of both devices
    aclrtPtrAttributes attributes{};
    CHECK_OK(aclrtPointerGetAttributes(&attributes, &attributes));
  }
}

void Devices() {
  for (int i = 0; i < kRounds; ++i) {
    CHECK_OK(aclrtSetDevice(1));
    CHECK_OK(aclrtSetDevice(0));
    CHECK_OK(aclrtResetDevice(1));
  }
}

}  // namespace

int main() {
  setenv("ASCENDENV_SIM_MEMORY", "4MiB", 1);
  setenv("ASCENDENV_SIM_DEVICES", "2", 1);
  CHECK_OK(aclrtSetDevice(0));
  CHECK_OK(aclrtSetDevice(1));  // stays set, so that nobody's reset is the last
  std::atomic<int> finished{0};
  std::vector<std::thread> threads;
  for (const auto& work : {Blocks, Copies, Mappings, Keys, Questions, Devices, Blocks, Copies}) {
    threads.emplace_back([work, &finished] {
      CHECK_OK(aclrtSetDevice(0));
      work();
      ++finished;
    });
  }
  for (auto& thread : threads) thread.join();
  CHECK(finished == 8);
  CHECK_OK(aclrtSetDevice(0));
  size_t free = 0;
  size_t total = 0;
  CHECK_OK(aclrtGetMemInfo(ACL_HBM_MEM, &free, &total));
  CHECK(free == total);
  return checks::Result();
}
