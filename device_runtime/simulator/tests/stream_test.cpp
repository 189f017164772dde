#include "runtime/stream.h"

#include <future>
#include <numeric>
#include <string>
#include <vector>

#include "check.h"
#include "runtime/error.h"

using simulator::Enqueue;
using simulator::Fail;

namespace {

constexpr aclError kFault = ACL_ERROR_RT_AICORE_EXCEPTION;

aclrtStream NewStream(uint64_t failureMode) {
  aclrtStream stream = nullptr;
  CHECK_OK(aclrtCreateStream(&stream));
  CHECK_OK(aclrtSetStreamFailureMode(stream, failureMode));
  return stream;
}

std::string RecentMessage() {
  const char* message = aclGetRecentErrMsg();
  return message == nullptr ? "" : message;
}

void TasksRunInOrder(aclrtStream stream) {
  std::vector<int> seen;
  for (int i = 0; i < 1000; ++i) {
    CHECK_OK(Enqueue(stream, [&seen, i] {
      seen.push_back(i);
      return ACL_SUCCESS;
    }));
  }
  CHECK_OK(aclrtSynchronizeStream(stream));
  std::vector<int> expected(1000);
  std::iota(expected.begin(), expected.end(), 0);
  CHECK(seen == expected);
}

void TheHostDoesNotWait() {
  aclrtStream stream = NewStream(ACL_STOP_ON_FAILURE);
  std::promise<void> gate;
  CHECK_OK(Enqueue(stream, [opened = gate.get_future().share()] {
    opened.wait();
    return ACL_SUCCESS;
  }));
  aclrtStreamStatus status = ACL_STREAM_STATUS_RESERVED;
  CHECK_OK(aclrtStreamQuery(stream, &status));
  CHECK(status == ACL_STREAM_STATUS_NOT_READY);
  CHECK(aclrtSynchronizeStreamWithTimeout(stream, 1) == ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
  gate.set_value();
  CHECK_OK(aclrtSynchronizeStream(stream));
  CHECK_OK(aclrtStreamQuery(stream, &status));
  CHECK(status == ACL_STREAM_STATUS_COMPLETE);
  CHECK_OK(aclrtDestroyStream(stream));
}

void StreamsRunBesideEachOther() {
  aclrtStream first = NewStream(ACL_STOP_ON_FAILURE);
  aclrtStream second = NewStream(ACL_STOP_ON_FAILURE);
  std::promise<int> fromSecond;
  int received = 0;
  CHECK_OK(Enqueue(first, [&received, future = fromSecond.get_future().share()] {
    received = future.get();
    return ACL_SUCCESS;
  }));
  CHECK_OK(Enqueue(second, [&fromSecond] {
    fromSecond.set_value(7);
    return ACL_SUCCESS;
  }));
  CHECK_OK(aclrtSynchronizeDevice());
  CHECK(received == 7);
  CHECK_OK(aclrtDestroyStream(first));
  CHECK_OK(aclrtDestroyStream(second));
}

void AFailureStopsTheStreamForGood() {
  aclrtStream stream = NewStream(ACL_STOP_ON_FAILURE);
  bool laterRan = false;
  CHECK_OK(Enqueue(stream, [] { return Fail(kFault, "index 9 is out of range"); }));
  CHECK_OK(Enqueue(stream, [&laterRan] {
    laterRan = true;
    return ACL_SUCCESS;
  }));
  CHECK(aclrtSynchronizeStream(stream) == kFault);
  CHECK(RecentMessage() == "[simulated CANN] index 9 is out of range");
  CHECK(aclrtSynchronizeStream(stream) == kFault);
  CHECK(aclrtSynchronizeDevice() == kFault);
  CHECK(aclrtPeekAtLastError(ACL_RT_THREAD_LEVEL) == kFault);
  CHECK(aclrtGetLastError(ACL_RT_THREAD_LEVEL) == kFault);
  CHECK(aclrtGetLastError(ACL_RT_THREAD_LEVEL) == ACL_SUCCESS);
  CHECK(!laterRan);
  CHECK_OK(aclrtDestroyStream(stream));
  CHECK_OK(aclrtSynchronizeDevice());
}

void AFailureIsReportedOnceWhenGoingOn() {
  aclrtStream stream = NewStream(ACL_CONTINUE_ON_FAILURE);
  bool laterRan = false;
  CHECK_OK(Enqueue(stream, [] { return Fail(kFault, "first"); }));
  CHECK_OK(Enqueue(stream, [&laterRan] {
    laterRan = true;
    return Fail(kFault, "second");
  }));
  CHECK(aclrtSynchronizeStream(stream) == kFault);
  CHECK(RecentMessage() == "[simulated CANN] first");
  CHECK(laterRan);
  CHECK_OK(aclrtSynchronizeStream(stream));
  CHECK_OK(aclrtDestroyStream(stream));
}

void ForceSkipsWhatIsQueued() {
  aclrtStream stream = NewStream(ACL_CONTINUE_ON_FAILURE);
  std::promise<void> running;
  std::promise<void> gate;
  bool laterRan = false;
  CHECK_OK(Enqueue(stream, [&running, opened = gate.get_future().share()] {
    running.set_value();
    opened.wait();
    return ACL_SUCCESS;
  }));
  CHECK_OK(Enqueue(stream, [&laterRan] {
    laterRan = true;
    return ACL_SUCCESS;
  }));
  running.get_future().wait();
  std::future<aclError> destroyed =
      std::async(std::launch::async, [stream] { return aclrtDestroyStreamForce(stream); });
  aclrtStreamStatus status = ACL_STREAM_STATUS_RESERVED;
  while (aclrtStreamQuery(stream, &status) == ACL_SUCCESS) {
  }
  while (Enqueue(stream, [] { return ACL_SUCCESS; }) == ACL_SUCCESS) {
  }
  gate.set_value();
  CHECK(destroyed.get() == ACL_SUCCESS);
  CHECK(!laterRan);
}

void DeadHandlesAreRefused() {
  aclrtStream stream = NewStream(ACL_STOP_ON_FAILURE);
  CHECK_OK(aclrtDestroyStream(stream));
  CHECK(aclrtDestroyStream(stream) == ACL_ERROR_RT_INVALID_HANDLE);
  CHECK(aclrtSynchronizeStream(stream) == ACL_ERROR_RT_INVALID_HANDLE);
  CHECK(Enqueue(stream, [] { return ACL_SUCCESS; }) == ACL_ERROR_RT_INVALID_HANDLE);
}

void ATaskCannotWaitForItsOwnStream() {
  aclrtStream stream = NewStream(ACL_STOP_ON_FAILURE);
  CHECK_OK(Enqueue(stream, [stream] { return aclrtSynchronizeStream(stream); }));
  CHECK(aclrtSynchronizeStream(stream) == ACL_ERROR_RT_STREAM_CONTEXT);
  CHECK_OK(aclrtDestroyStream(stream));
}

}  // namespace

int main() {
  CHECK_OK(aclrtSetDevice(0));
  TasksRunInOrder(nullptr);
  aclrtStream stream = NewStream(ACL_STOP_ON_FAILURE);
  TasksRunInOrder(stream);
  CHECK_OK(aclrtDestroyStream(stream));
  TheHostDoesNotWait();
  StreamsRunBesideEachOther();
  AFailureStopsTheStreamForGood();
  AFailureIsReportedOnceWhenGoingOn();
  ForceSkipsWhatIsQueued();
  DeadHandlesAreRefused();
  ATaskCannotWaitForItsOwnStream();
  return checks::Result();
}
