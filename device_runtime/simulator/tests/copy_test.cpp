#include <numeric>
#include <vector>

#include "check.h"

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

}  // namespace

int main() {
  CHECK_OK(aclrtSetDevice(0));
  BytesSurviveTheRoundTrip();
  ABufferedCopyTakesTheBytesAtOnce();
  BoundsAreChecked();
  return checks::Result();
}
