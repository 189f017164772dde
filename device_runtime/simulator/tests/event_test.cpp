#include <atomic>
#include <future>

#include "check.h"
#include "runtime/error.h"
#include "runtime/stream.h"

using simulator::Enqueue;
using simulator::Fail;

namespace {

struct Pair {
  aclrtStream first = nullptr;
  aclrtStream second = nullptr;

  Pair() {
    for (aclrtStream* stream : {&first, &second}) {
      CHECK_OK(aclrtCreateStream(stream));
      CHECK_OK(aclrtSetStreamFailureMode(*stream, ACL_STOP_ON_FAILURE));
    }
  }
  ~Pair() {
    CHECK_OK(aclrtDestroyStreamForce(first));
    CHECK_OK(aclrtDestroyStreamForce(second));
  }
};

aclrtEvent NewEvent(uint32_t flags) {
  aclrtEvent event = nullptr;
  CHECK_OK(aclrtCreateEventExWithFlag(&event, flags));
  return event;
}

aclrtEventRecordedStatus StatusOf(aclrtEvent event) {
  aclrtEventRecordedStatus status = ACL_EVENT_RECORDED_STATUS_NOT_READY;
  CHECK_OK(aclrtQueryEventStatus(event, &status));
  return status;
}

void AWaitOrdersTwoStreams() {
  const Pair streams;
  aclrtEvent event = NewEvent(ACL_EVENT_SYNC);
  std::promise<void> gate;
  std::atomic<int> value{0};
  CHECK_OK(Enqueue(streams.first, [&value, opened = gate.get_future().share()] {
    opened.wait();
    value = 1;
    return ACL_SUCCESS;
  }));
  CHECK_OK(aclrtRecordEvent(event, streams.first));
  CHECK_OK(aclrtStreamWaitEvent(streams.second, event));
  int seen = -1;
  CHECK_OK(Enqueue(streams.second, [&] {
    seen = value;
    return ACL_SUCCESS;
  }));
  CHECK(StatusOf(event) == ACL_EVENT_RECORDED_STATUS_NOT_READY);
  CHECK_OK(aclrtDestroyEvent(event));  // the pending wait must not mind
  gate.set_value();
  CHECK_OK(aclrtSynchronizeStream(streams.second));
  CHECK(seen == 1);
}

void AWaitMeansTheRecordingItSaw() {
  const Pair streams;
  aclrtEvent event = NewEvent(ACL_EVENT_SYNC);
  std::promise<void> gate;
  CHECK_OK(aclrtRecordEvent(event, streams.first));
  CHECK_OK(aclrtSynchronizeEvent(event));
  CHECK_OK(aclrtStreamWaitEvent(streams.second, event));
  CHECK_OK(Enqueue(streams.first, [opened = gate.get_future().share()] {
    opened.wait();
    return ACL_SUCCESS;
  }));
  CHECK_OK(aclrtRecordEvent(event, streams.first));
  CHECK_OK(aclrtSynchronizeStream(streams.second));  // would hang if it waited for the second recording
  CHECK(StatusOf(event) == ACL_EVENT_RECORDED_STATUS_NOT_READY);
  gate.set_value();
  CHECK_OK(aclrtSynchronizeEvent(event));
  CHECK(StatusOf(event) == ACL_EVENT_RECORDED_STATUS_COMPLETE);
  CHECK_OK(aclrtDestroyEvent(event));
}

void AFailureTravelsThroughTheEvent() {
  const Pair streams;
  aclrtEvent event = NewEvent(ACL_EVENT_SYNC);
  bool ran = false;
  CHECK_OK(Enqueue(streams.first, [] { return Fail(ACL_ERROR_RT_AICORE_EXCEPTION, "fault"); }));
  CHECK_OK(aclrtRecordEvent(event, streams.first));
  CHECK_OK(aclrtStreamWaitEvent(streams.second, event));
  CHECK_OK(Enqueue(streams.second, [&ran] {
    ran = true;
    return ACL_SUCCESS;
  }));
  CHECK(aclrtSynchronizeEvent(event) == ACL_ERROR_RT_AICORE_EXCEPTION);
  CHECK(StatusOf(event) == ACL_EVENT_RECORDED_STATUS_COMPLETE);
  CHECK(aclrtSynchronizeStream(streams.second) == ACL_ERROR_RT_AICORE_EXCEPTION);
  CHECK(!ran);
  CHECK_OK(aclrtDestroyEvent(event));
}

void AnUnrecordedEventHoldsNobodyUp() {
  const Pair streams;
  aclrtEvent event = NewEvent(ACL_EVENT_TIME_LINE);
  CHECK(StatusOf(event) == ACL_EVENT_RECORDED_STATUS_NOT_READY);
  CHECK_OK(aclrtSynchronizeEvent(event));
  CHECK_OK(aclrtStreamWaitEvent(streams.first, event));
  CHECK_OK(aclrtSynchronizeStream(streams.first));
  float milliseconds = 0;
  CHECK(aclrtEventElapsedTime(&milliseconds, event, event) == ACL_ERROR_RT_EVENT_TIMESTAMP_INVALID);
  CHECK_OK(aclrtDestroyEvent(event));
  CHECK(aclrtDestroyEvent(event) == ACL_ERROR_RT_INVALID_HANDLE);
}

void TimesFollowTheOrderOfTheStream() {
  const Pair streams;
  aclrtEvent start = NewEvent(ACL_EVENT_TIME_LINE);
  aclrtEvent end = NewEvent(ACL_EVENT_TIME_LINE);
  aclrtEvent untimed = NewEvent(ACL_EVENT_SYNC);
  for (aclrtEvent event : {start, end, untimed}) CHECK_OK(aclrtRecordEvent(event, streams.first));
  CHECK_OK(aclrtSynchronizeStream(streams.first));
  uint64_t from = 0;
  uint64_t to = 0;
  CHECK_OK(aclrtEventGetTimestamp(start, &from));
  CHECK_OK(aclrtEventGetTimestamp(end, &to));
  CHECK(from > 0 && from <= to);
  float milliseconds = -1;
  CHECK_OK(aclrtEventElapsedTime(&milliseconds, start, end));
  CHECK(milliseconds >= 0);
  CHECK(aclrtEventElapsedTime(&milliseconds, start, untimed) == ACL_ERROR_RT_EVENT_TIMESTAMP_INVALID);
  for (aclrtEvent event : {start, end, untimed}) CHECK_OK(aclrtDestroyEvent(event));
}

// As torch_npu does when two devices are used: the handle is destroyed on one task queue, waited for on
// another.
void AWaitFindsAnEventThatWasJustDestroyed() {
  const Pair streams;
  aclrtEvent event = NewEvent(ACL_EVENT_SYNC);
  std::promise<void> gate;
  std::atomic<int> value{0};
  CHECK_OK(Enqueue(streams.first, [&value, opened = gate.get_future().share()] {
    opened.wait();
    value = 1;
    return ACL_SUCCESS;
  }));
  CHECK_OK(aclrtRecordEvent(event, streams.first));
  CHECK_OK(aclrtDestroyEvent(event));
  CHECK_OK(aclrtStreamWaitEvent(streams.second, event));
  int seen = -1;
  CHECK_OK(Enqueue(streams.second, [&] {
    seen = value;
    return ACL_SUCCESS;
  }));
  gate.set_value();
  CHECK_OK(aclrtSynchronizeStream(streams.second));
  CHECK(seen == 1);
  CHECK(aclrtRecordEvent(event, streams.first) == ACL_ERROR_RT_INVALID_HANDLE);
  CHECK(aclrtStreamWaitEvent(streams.second, &value) == ACL_ERROR_RT_INVALID_HANDLE);
}

void DestroyingAStreamReleasesWhoWaitsForIt() {
  Pair streams;
  aclrtStream doomed = nullptr;
  CHECK_OK(aclrtCreateStream(&doomed));
  aclrtEvent event = NewEvent(ACL_EVENT_SYNC);
  std::promise<void> running;
  std::promise<void> gate;
  CHECK_OK(Enqueue(doomed, [&running, opened = gate.get_future().share()] {
    running.set_value();
    opened.wait();
    return ACL_SUCCESS;
  }));
  running.get_future().wait();
  CHECK_OK(aclrtRecordEvent(event, doomed));
  CHECK_OK(aclrtStreamWaitEvent(streams.first, event));
  auto destroyed = std::async(std::launch::async, [doomed] { return aclrtDestroyStreamForce(doomed); });
  while (Enqueue(doomed, [] { return ACL_SUCCESS; }) == ACL_SUCCESS) {
  }
  gate.set_value();
  CHECK(destroyed.get() == ACL_SUCCESS);
  CHECK(aclrtSynchronizeStreamWithTimeout(streams.first, 10'000) != ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
  CHECK_OK(aclrtDestroyEvent(event));
}

}  // namespace

int main() {
  CHECK_OK(aclrtSetDevice(0));
  AWaitOrdersTwoStreams();
  AWaitMeansTheRecordingItSaw();
  AFailureTravelsThroughTheEvent();
  AnUnrecordedEventHoldsNobodyUp();
  TimesFollowTheOrderOfTheStream();
  AWaitFindsAnEventThatWasJustDestroyed();
  DestroyingAStreamReleasesWhoWaitsForIt();
  return checks::Result();
}
