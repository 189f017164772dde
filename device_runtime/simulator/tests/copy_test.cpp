#include <array>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <future>
#include <numeric>
#include <vector>

#include "check.h"
#include "runtime/stream.h"

namespace {

constexpr size_t kBytes = 1000;

std::vector<char> Pattern() {
  std::vector<char> pattern(kBytes);
  std::iota(pattern.begin(), pattern.end(), 0);
  return pattern;
}

char* Allocate(size_t bytes) {
  void* pointer = nullptr;
  CHECK_OK(aclrtMalloc(&pointer, bytes, ACL_MEM_MALLOC_HUGE_FIRST));
  return static_cast<char*>(pointer);
}

void BytesSurviveTheRoundTrip() {
  const std::vector<char> pattern = Pattern();
  std::vector<char> back(kBytes);
  char* first = Allocate(kBytes);
  char* second = Allocate(kBytes);
  CHECK_OK(aclrtMemcpy(first, kBytes, pattern.data(), kBytes, ACL_MEMCPY_HOST_TO_DEVICE));
  CHECK_OK(aclrtMemcpyAsync(second, kBytes, first, kBytes, ACL_MEMCPY_DEVICE_TO_DEVICE, nullptr));
  CHECK_OK(aclrtMemcpyAsync(back.data(), kBytes, second, kBytes, ACL_MEMCPY_DEVICE_TO_HOST, nullptr));
  CHECK_OK(aclrtSynchronizeStream(nullptr));
  CHECK(back == pattern);
  CHECK_OK(aclrtMemsetAsync(second, kBytes, 5, kBytes, nullptr));
  CHECK_OK(aclrtSynchronizeStream(nullptr));
  CHECK_OK(aclrtMemcpy(back.data(), kBytes, second, kBytes, ACL_MEMCPY_DEFAULT));
  CHECK(back == std::vector<char>(kBytes, 5));
  CHECK_OK(aclrtFree(first));
  CHECK_OK(aclrtFree(second));
}

void ABufferedCopyTakesTheBytesAtOnce() {
  std::vector<char> source = Pattern();
  std::vector<char> back(kBytes);
  char* block = Allocate(kBytes);
  CHECK_OK(aclrtMemcpyAsync(block, kBytes, source.data(), kBytes, ACL_MEMCPY_HOST_TO_BUF_TO_DEVICE, nullptr));
  source.assign(kBytes, 0);
  CHECK_OK(aclrtSynchronizeStream(nullptr));
  CHECK_OK(aclrtMemcpy(back.data(), kBytes, block, kBytes, ACL_MEMCPY_DEVICE_TO_HOST));
  CHECK(back == Pattern());
  CHECK_OK(aclrtFree(block));
}

void BoundsAreChecked() {
  std::vector<char> host(1 << 20);
  char* block = Allocate(4096);
  CHECK(aclrtMemcpy(block, 10, host.data(), 11, ACL_MEMCPY_HOST_TO_DEVICE) == ACL_ERROR_INVALID_PARAM);
  CHECK(aclrtMemcpy(block, host.size(), host.data(), host.size(), ACL_MEMCPY_HOST_TO_DEVICE) ==
        ACL_ERROR_RT_PARAM_INVALID);
  CHECK(aclrtMemcpy(host.data(), host.size(), block + 1, 4096, ACL_MEMCPY_DEVICE_TO_HOST) ==
        ACL_ERROR_RT_PARAM_INVALID);
  CHECK(aclrtMemcpyAsync(host.data(), 10, host.data() + 50, 10, ACL_MEMCPY_DEVICE_TO_HOST, nullptr) ==
        ACL_ERROR_RT_PARAM_INVALID);
  CHECK(aclrtMemcpy(nullptr, 10, host.data(), 10, ACL_MEMCPY_HOST_TO_DEVICE) == ACL_ERROR_INVALID_PARAM);
  CHECK(aclrtMemset(host.data(), 10, 0, 10) == ACL_ERROR_RT_PARAM_INVALID);
  CHECK(aclrtMemset(block, 10000, 0, 10000) == ACL_ERROR_RT_PARAM_INVALID);
  CHECK_OK(aclrtFree(block));
}

// Holds the default stream until it is opened.
class Gate {
 public:
  Gate() {
    CHECK_OK(simulator::Enqueue(nullptr, [opened = promise_.get_future().share()] {
      opened.wait();
      return ACL_SUCCESS;
    }));
  }
  void Open() { promise_.set_value(); }

 private:
  std::promise<void> promise_;
};

void OnlyPinnedMemoryIsCopiedBehindTheHost() {
  void* pinned = nullptr;
  CHECK_OK(aclrtMallocHost(&pinned, kBytes));
  std::vector<char> pageable = Pattern();
  char* block = Allocate(kBytes);
  const auto copy = [block](const void* from) {
    return aclrtMemcpyAsync(block, kBytes, from, kBytes, ACL_MEMCPY_HOST_TO_DEVICE, nullptr);
  };
  Gate gate;
  CHECK_OK(copy(pinned));  // would never return if it waited
  auto waiting = std::async(std::launch::async, [&] {
    CHECK_OK(aclrtSetDevice(0));
    return copy(pageable.data());
  });
  CHECK(waiting.wait_for(std::chrono::milliseconds(20)) == std::future_status::timeout);
  gate.Open();
  CHECK_OK(waiting.get());
  CHECK(block[7] == 7);  // nothing is left to wait for
  CHECK_OK(aclrtFree(block));
  CHECK_OK(aclrtFreeHost(pinned));
}

void RowsAreCopied() {
  std::vector<char> host(100);
  std::iota(host.begin(), host.end(), 0);
  char* block = Allocate(4096);
  CHECK_OK(aclrtMemset(block, 4096, 0, 4096));
  CHECK_OK(aclrtMemcpy2d(block, 8, host.data(), 10, 5, 10, ACL_MEMCPY_HOST_TO_DEVICE));
  CHECK(block[0] == 0 && block[4] == 4 && block[5] == 0 && block[8] == 10 && block[8 * 9 + 4] == 94);
  std::vector<char> back(100);
  CHECK_OK(aclrtMemcpy2dAsync(back.data(), 10, block, 8, 5, 10, ACL_MEMCPY_DEVICE_TO_HOST, nullptr));
  CHECK(back[94] == 94 && back[95] == 0);
  CHECK_OK(aclrtMemcpy2d(nullptr, 0, nullptr, 0, 0, 3, ACL_MEMCPY_HOST_TO_DEVICE));
  const auto copy = [&](size_t pitch, size_t width, size_t height, aclrtMemcpyKind kind) {
    return aclrtMemcpy2d(block, pitch, host.data(), 10, width, height, kind);
  };
  CHECK(copy(4, 5, 10, ACL_MEMCPY_HOST_TO_DEVICE) == ACL_ERROR_INVALID_PARAM);
  CHECK(copy(8, 5, 10, ACL_MEMCPY_HOST_TO_HOST) == ACL_ERROR_INVALID_PARAM);
  CHECK(copy(8, 5, 5'242'881, ACL_MEMCPY_HOST_TO_DEVICE) == ACL_ERROR_INVALID_PARAM);
  CHECK(copy(1000, 5, 10, ACL_MEMCPY_HOST_TO_DEVICE) == ACL_ERROR_RT_PARAM_INVALID);
  CHECK(copy(SIZE_MAX, 5, 10, ACL_MEMCPY_HOST_TO_DEVICE) == ACL_ERROR_RT_PARAM_INVALID);
  CHECK_OK(aclrtFree(block));
}

void BatchesAreCopied() {
  char* first = Allocate(kBytes);
  char* second = Allocate(kBytes);
  std::vector<char> up = Pattern();
  std::vector<char> down(kBytes);
  CHECK_OK(aclrtMemset(second, kBytes, 9, kBytes));
  std::array<void*, 2> to{first, down.data()};
  std::array<void*, 2> from{up.data(), second};
  std::array<size_t, 2> bytes{kBytes, kBytes};
  std::array<aclrtMemcpyBatchAttr, 2> attributes{};
  attributes[0].dstLoc = {0, ACL_MEM_LOCATION_TYPE_DEVICE};
  attributes[1].srcLoc = {0, ACL_MEM_LOCATION_TYPE_DEVICE};
  std::array<size_t, 2> firstOf{0, 1};
  size_t failed = 0;
  const auto copy = [&](size_t count) {
    return aclrtMemcpyBatchAsync(to.data(), bytes.data(), from.data(), bytes.data(), 2, attributes.data(),
                                 firstOf.data(), count, &failed, nullptr);
  };
  CHECK_OK(copy(2));
  CHECK(failed == SIZE_MAX);
  CHECK(first[7] == 7 && down[7] == 9);
  CHECK(copy(1) == ACL_ERROR_RT_PARAM_INVALID);  // the second is not what the first attributes say
  CHECK(failed == 1);
  attributes[0].dstLoc.id = 1;
  CHECK(copy(2) == ACL_ERROR_RT_PARAM_INVALID);
  CHECK(failed == 0);
  attributes[0].dstLoc.id = 0;
  firstOf[1] = 2;
  CHECK(copy(2) == ACL_ERROR_RT_PARAM_INVALID);
  CHECK(copy(3) == ACL_ERROR_INVALID_PARAM);
  firstOf[1] = 1;
  bytes[1] = 1 << 20;
  CHECK(aclrtMemcpyBatch(to.data(), bytes.data(), from.data(), bytes.data(), 2, attributes.data(),
                         firstOf.data(), 2, &failed) == ACL_ERROR_RT_PARAM_INVALID);
  CHECK(failed == 1);
  bytes = {0, 0};
  CHECK_OK(
      aclrtMemcpyBatch(to.data(), bytes.data(), from.data(), bytes.data(), 2, nullptr, nullptr, 0, &failed));
  CHECK_OK(aclrtFree(first));
  CHECK_OK(aclrtFree(second));
}

void WordsAreSet() {
  char* block = Allocate(4096);
  CHECK_OK(aclrtMemsetD32(block, 4096, 0x01020304, 2));
  CHECK_OK(aclrtMemsetD32Async(block + 8, 4088, 5, 1, nullptr));
  CHECK_OK(aclrtSynchronizeStream(nullptr));
  CHECK(block[0] == 4 && block[3] == 1 && block[7] == 1 && block[8] == 5);
  CHECK(aclrtMemsetD32(block + 1, 4096, 0, 1) == ACL_ERROR_INVALID_PARAM);
  CHECK(aclrtMemsetD32(block, 7, 0, 2) == ACL_ERROR_INVALID_PARAM);
  CHECK_OK(aclrtFree(block));
}

void PeersAreKept() {
  int32_t can = 0;
  int32_t status = 7;
  CHECK_OK(aclrtDeviceCanAccessPeer(&can, 0, 1));
  CHECK(can == 1);
  CHECK(aclrtDeviceCanAccessPeer(&can, 1, 1) == ACL_ERROR_INVALID_PARAM);
  CHECK(aclrtDeviceCanAccessPeer(&can, 0, 2) == ACL_ERROR_RT_INVALID_DEVICEID);
  CHECK_OK(aclrtDevicePeerAccessStatus(0, 1, &status));
  CHECK(status == 0);
  CHECK_OK(aclrtDeviceEnablePeerAccess(1, 0));
  CHECK_OK(aclrtDeviceEnablePeerAccess(1, 0));
  CHECK_OK(aclrtDevicePeerAccessStatus(0, 1, &status));
  CHECK(status == 1);
  CHECK_OK(aclrtDevicePeerAccessStatus(1, 0, &status));
  CHECK(status == 0);  // one way only
  CHECK(aclrtDeviceEnablePeerAccess(0, 0) == ACL_ERROR_INVALID_PARAM);
  CHECK(aclrtDeviceEnablePeerAccess(1, 1) == ACL_ERROR_FEATURE_UNSUPPORTED);
  CHECK(aclrtDeviceEnablePeerAccess(2, 0) == ACL_ERROR_RT_INVALID_DEVICEID);
  CHECK_OK(aclrtDeviceDisablePeerAccess(1));
  CHECK_OK(aclrtDevicePeerAccessStatus(0, 1, &status));
  CHECK(status == 0);
}

void DevicesCopyToEachOther() {
  char* here = Allocate(kBytes);
  CHECK_OK(aclrtMemset(here, kBytes, 3, kBytes));
  CHECK_OK(aclrtSetDevice(1));
  char* there = Allocate(kBytes);
  CHECK_OK(aclrtMemcpyAsync(there, kBytes, here, kBytes, ACL_MEMCPY_DEVICE_TO_DEVICE, nullptr));
  CHECK_OK(aclrtSynchronizeStream(nullptr));
  CHECK(there[999] == 3);
  CHECK_OK(aclrtFree(there));
  CHECK_OK(aclrtSetDevice(0));
  CHECK_OK(aclrtFree(here));
}

}  // namespace

int main() {
  setenv("ASCENDENV_SIM_DEVICES", "2", 1);
  CHECK_OK(aclrtSetDevice(0));
  BytesSurviveTheRoundTrip();
  ABufferedCopyTakesTheBytesAtOnce();
  BoundsAreChecked();
  OnlyPinnedMemoryIsCopiedBehindTheHost();
  RowsAreCopied();
  BatchesAreCopied();
  WordsAreSet();
  PeersAreKept();
  DevicesCopyToEachOther();
  return checks::Result();
}
