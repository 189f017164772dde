#include <pthread.h>

#include <atomic>
#include <thread>

#include "check.h"
#include "runtime/stream.h"

namespace {

void Add(void* counter) { ++*static_cast<std::atomic<int>*>(counter); }

void ASubscribedThreadRunsCallbacks() {
  aclrtStream stream = nullptr;
  CHECK_OK(aclrtCreateStream(&stream));
  std::atomic<int> counter{0};
  CHECK(aclrtLaunchCallback(Add, &counter, ACL_CALLBACK_BLOCK, stream) == ACL_ERROR_STREAM_NOT_SUBSCRIBE);
  CHECK(aclrtProcessReport(0) == ACL_ERROR_THREAD_NOT_SUBSCRIBE);

  const auto self = static_cast<uint64_t>(pthread_self());
  CHECK_OK(aclrtSubscribeReport(self, stream));
  CHECK(aclrtSubscribeReport(self, stream) == ACL_ERROR_REPEAT_SUBSCRIBE);
  CHECK(aclrtProcessReport(1) == ACL_ERROR_WAIT_CALLBACK_TIMEOUT);

  int seenAfterCallback = -1;
  CHECK_OK(aclrtLaunchCallback(Add, &counter, ACL_CALLBACK_BLOCK, stream));
  CHECK_OK(simulator::Enqueue(stream, [&] {
    seenAfterCallback = counter;
    return ACL_SUCCESS;
  }));
  CHECK_OK(aclrtProcessReport(-1));
  CHECK_OK(aclrtSynchronizeStream(stream));
  CHECK(seenAfterCallback == 1);

  CHECK_OK(aclrtUnSubscribeReport(self, stream));
  CHECK(aclrtUnSubscribeReport(self, stream) == ACL_ERROR_STREAM_NOT_SUBSCRIBE);
  CHECK_OK(aclrtDestroyStream(stream));
}

// A new stream may get the address of a destroyed one, but not its thread.
void ASubscriptionEndsWithItsStream() {
  const auto self = static_cast<uint64_t>(pthread_self());
  for (int i = 0; i < 16; ++i) {
    aclrtStream stream = nullptr;
    CHECK_OK(aclrtCreateStream(&stream));
    CHECK_OK(aclrtSubscribeReport(self, stream));
    CHECK_OK(aclrtDestroyStream(stream));
  }
}

void HostFunctionsRunInOrder() {
  std::atomic<int> counter{0};
  int seen = -1;
  CHECK_OK(aclrtLaunchHostFunc(nullptr, Add, &counter));
  CHECK_OK(simulator::Enqueue(nullptr, [&] {
    seen = counter;
    return ACL_SUCCESS;
  }));
  CHECK_OK(aclrtSynchronizeStream(nullptr));
  CHECK(seen == 1);
}

}  // namespace

int main() {
  CHECK_OK(aclrtSetDevice(0));
  ASubscribedThreadRunsCallbacks();
  ASubscriptionEndsWithItsStream();
  HostFunctionsRunInOrder();
  return checks::Result();
}
