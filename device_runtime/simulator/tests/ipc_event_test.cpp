#include <cstring>

#include "check.h"
#include "process.h"
#include "runtime/error.h"
#include "runtime/stream.h"

namespace {

aclrtEvent NewEvent() {
  aclrtEvent event = nullptr;
  CHECK_OK(aclrtCreateEventExWithFlag(&event, ACL_EVENT_IPC));
  return event;
}

void Send(checks::Process& to, const aclrtIpcEventHandle& handle) {
  size_t words[sizeof(handle) / sizeof(size_t)];
  std::memcpy(words, &handle, sizeof(handle));
  for (const size_t word : words) to.Send(word);
}

aclrtIpcEventHandle Receive(checks::Process& from) {
  size_t words[sizeof(aclrtIpcEventHandle) / sizeof(size_t)];
  for (size_t& word : words) word = from.Receive();
  aclrtIpcEventHandle handle;
  std::memcpy(&handle, words, sizeof(handle));
  return handle;
}

bool IsComplete(aclrtEvent event) {
  aclrtEventRecordedStatus status = ACL_EVENT_RECORDED_STATUS_NOT_READY;
  CHECK_OK(aclrtQueryEventStatus(event, &status));
  return status == ACL_EVENT_RECORDED_STATUS_COMPLETE;
}

// The other process waits for what this one records, and the other way round.
void TheOtherProcess(checks::Process& parent) {
  CHECK_OK(aclrtSetDevice(0));
  aclrtEvent event = nullptr;
  CHECK_OK(aclrtIpcOpenEventHandle(Receive(parent), &event));
  parent.Send(0);
  CHECK(parent.Receive() == 1);  // it is recorded, behind a task that waits for this process
  CHECK(!IsComplete(event));
  CHECK(aclrtSynchronizeEventWithTimeout(event, 20) == ACL_ERROR_RT_EVENT_SYNC_TIMEOUT);
  parent.Send(2);
  CHECK_OK(aclrtSynchronizeEvent(event));
  CHECK(IsComplete(event));

  CHECK_OK(aclrtRecordEvent(event, nullptr));
  parent.Send(3);
  CHECK(parent.Receive() == 4);
  CHECK_OK(
      simulator::Enqueue(nullptr, [] { return simulator::Fail(ACL_ERROR_RT_AICORE_EXCEPTION, "fault"); }));
  CHECK_OK(aclrtRecordEvent(event, nullptr));
  parent.Send(5);
  CHECK(parent.Receive() == 6);
}

void BothSidesRecordAndWait(checks::Process& child) {
  aclrtEvent event = NewEvent();
  aclrtIpcEventHandle handle;
  CHECK_OK(aclrtIpcGetEventHandle(event, &handle));
  Send(child, handle);
  CHECK(child.Receive() == 0);
  CHECK_OK(aclrtStreamWaitEvent(nullptr, event));  // never recorded: it holds nobody up
  CHECK_OK(simulator::Enqueue(nullptr, [&child] {
    CHECK(child.Receive() == 2);
    return ACL_SUCCESS;
  }));
  CHECK_OK(aclrtRecordEvent(event, nullptr));
  child.Send(1);
  CHECK_OK(aclrtSynchronizeEvent(event));
  CHECK(child.Receive() == 3);
  CHECK_OK(aclrtStreamWaitEvent(nullptr, event));
  CHECK_OK(aclrtSynchronizeStream(nullptr));
  child.Send(4);
  CHECK(child.Receive() == 5);
  CHECK(aclrtSynchronizeEvent(event) == ACL_ERROR_RT_AICORE_EXCEPTION);
  child.Send(6);
  CHECK(child.EndsWell());
  CHECK_OK(aclrtDestroyEvent(event));
}

void WhoRecordsAndDiesHoldsNobodyUp(checks::Process& child) {
  aclrtEvent event = NewEvent();
  aclrtIpcEventHandle handle;
  CHECK_OK(aclrtIpcGetEventHandle(event, &handle));
  Send(child, handle);
  CHECK(child.Receive() == 1);
  child.Kill();
  CHECK(aclrtSynchronizeEvent(event) == ACL_ERROR_RT_SUSPECT_REMOTE_ERROR);
  CHECK_OK(aclrtDestroyEvent(event));
}

void RecordsWhatItNeverReaches(checks::Process& parent) {
  CHECK_OK(aclrtSetDevice(0));
  aclrtEvent event = nullptr;
  CHECK_OK(aclrtIpcOpenEventHandle(Receive(parent), &event));
  CHECK_OK(simulator::Enqueue(nullptr, [&parent] {
    parent.Receive();
    return ACL_SUCCESS;
  }));
  CHECK_OK(aclrtRecordEvent(event, nullptr));
  parent.Send(1);
  parent.Receive();
}

void WrongHandlesAreRefused() {
  aclrtEvent event = nullptr;
  aclrtEvent opened = nullptr;
  aclrtIpcEventHandle handle{};
  CHECK(aclrtIpcOpenEventHandle(handle, &opened) == ACL_ERROR_RT_IPC_ERROR);
  CHECK_OK(aclrtCreateEventExWithFlag(&event, ACL_EVENT_SYNC));
  CHECK(aclrtIpcGetEventHandle(event, &handle) == ACL_ERROR_RT_PARAM_INVALID);
  CHECK_OK(aclrtDestroyEvent(event));
  event = NewEvent();
  CHECK_OK(aclrtIpcGetEventHandle(event, &handle));
  CHECK_OK(aclrtIpcOpenEventHandle(handle, &opened));  // the process that made it may open it as well
  for (aclrtEvent each : {event, opened}) CHECK_OK(aclrtDestroyEvent(each));
  CHECK(aclrtIpcOpenEventHandle(handle, &opened) == ACL_ERROR_RT_IPC_ERROR);
}

}  // namespace

int main() {
  checks::Process other(TheOtherProcess);
  checks::Process doomed(RecordsWhatItNeverReaches);
  CHECK_OK(aclrtSetDevice(0));
  BothSidesRecordAndWait(other);
  WhoRecordsAndDiesHoldsNobodyUp(doomed);
  WrongHandlesAreRefused();
  return checks::Result();
}
