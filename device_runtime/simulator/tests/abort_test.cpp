#include <future>

#include "check.h"
#include "runtime/stream.h"

using simulator::Enqueue;

namespace {

aclrtStream NewStream() {
  aclrtStream stream = nullptr;
  CHECK_OK(aclrtCreateStream(&stream));
  CHECK_OK(aclrtSetStreamFailureMode(stream, ACL_STOP_ON_FAILURE));
  return stream;
}

// A wait that never ends, and a task behind it.
void HoldUp(aclrtStream stream, aclrtEvent never, bool* laterRan) {
  CHECK_OK(aclrtStreamWaitEvent(stream, never));
  CHECK_OK(Enqueue(stream, [laterRan] {
    *laterRan = true;
    return ACL_SUCCESS;
  }));
}

std::future<aclError> Synchronizing(aclrtStream stream) {
  return std::async(std::launch::async, [stream] {
    CHECK_OK(aclrtSetDevice(0));
    return aclrtSynchronizeStream(stream);
  });
}

void Works(aclrtStream stream) {
  bool ran = false;
  CHECK_OK(Enqueue(stream, [&ran] {
    ran = true;
    return ACL_SUCCESS;
  }));
  CHECK_OK(aclrtSynchronizeStream(stream));
  CHECK(ran);
}

void AStreamIsAborted(aclrtEvent never) {
  aclrtStream stream = NewStream();
  bool laterRan = false;
  HoldUp(stream, never, &laterRan);
  auto waiting = Synchronizing(stream);
  CHECK(waiting.wait_for(std::chrono::milliseconds(50)) == std::future_status::timeout);
  CHECK_OK(aclrtStreamAbort(stream));
  CHECK(waiting.get() == ACL_ERROR_RT_STREAM_ABORT);
  CHECK(!laterRan);
  Works(stream);
  CHECK_OK(aclrtDestroyStream(stream));
  CHECK(aclrtStreamAbort(stream) == ACL_ERROR_RT_INVALID_HANDLE);
  CHECK(aclrtStreamAbort(nullptr) == ACL_ERROR_INVALID_PARAM);
}

void ADeviceIsAborted(aclrtEvent never) {
  aclrtStream first = NewStream();
  aclrtStream second = NewStream();
  bool laterRan = false;
  HoldUp(first, never, &laterRan);
  aclrtEvent event = nullptr;
  CHECK_OK(aclrtCreateEventExWithFlag(&event, ACL_EVENT_SYNC));
  CHECK_OK(aclrtRecordEvent(event, first));
  HoldUp(second, event, &laterRan);
  auto waiting = Synchronizing(second);
  CHECK(waiting.wait_for(std::chrono::milliseconds(50)) == std::future_status::timeout);
  CHECK_OK(aclrtDeviceTaskAbort(0, 0));
  CHECK(waiting.get() == ACL_ERROR_RT_DEVICE_TASK_ABORT);
  CHECK(!laterRan);
  for (aclrtStream stream : {first, second}) {
    Works(stream);
    CHECK_OK(aclrtDestroyStream(stream));
  }
  CHECK_OK(aclrtDestroyEvent(event));
  CHECK(aclrtDeviceTaskAbort(99, 0) != ACL_SUCCESS);
}

void ATaskThatDoesNotEndIsReported() {
  aclrtStream stream = NewStream();
  std::promise<void> gate;
  std::promise<void> running;
  CHECK_OK(Enqueue(stream, [&running, opened = gate.get_future().share()] {
    running.set_value();
    opened.wait();
    return ACL_SUCCESS;
  }));
  running.get_future().wait();
  CHECK(aclrtDeviceTaskAbort(0, 20) == ACL_ERROR_RT_TASK_TIMEOUT);
  CHECK(Enqueue(stream, [] { return ACL_SUCCESS; }) == ACL_ERROR_RT_DEVICE_TASK_ABORT);
  gate.set_value();
  CHECK_OK(aclrtDeviceTaskAbort(0, 0));
  Works(stream);
  CHECK_OK(aclrtDestroyStream(stream));
}

void NoMemoryIsDamaged() {
  aclrtMemUceInfo found[2];
  size_t count = 7;
  CHECK_OK(aclrtGetMemUceInfo(0, found, 2, &count));
  CHECK(count == 0);
  CHECK(aclrtGetMemUceInfo(0, nullptr, 2, &count) == ACL_ERROR_INVALID_PARAM);
  CHECK(aclrtMemUceRepair(0, found, 1) == ACL_ERROR_INVALID_PARAM);
}

}  // namespace

int main() {
  CHECK_OK(aclrtSetDevice(0));
  aclrtEvent never = nullptr;
  CHECK_OK(aclrtCreateEventWithFlag(&never, ACL_EVENT_EXTERNAL));
  AStreamIsAborted(never);
  ADeviceIsAborted(never);
  ATaskThatDoesNotEndIsReported();
  NoMemoryIsDamaged();
  CHECK_OK(aclrtDestroyEvent(never));
  return checks::Result();
}
