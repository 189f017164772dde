#include "runtime/event.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <deque>
#include <memory>
#include <mutex>
#include <utility>

#include "acl/acl_rt.h"
#include "runtime/activity.h"
#include "runtime/boundary.h"
#include "runtime/context.h"
#include "runtime/device.h"
#include "runtime/error.h"
#include "runtime/handles.h"
#include "runtime/queue.h"

namespace simulator {
namespace {

std::atomic<int32_t> nextId{0};

Handles<Event>& Events() {
  static auto* events = new Handles<Event>;
  return *events;
}

// The events that were destroyed last. torch_npu destroys an event on the task queue of its own device, when
// the queue of another one may have yet to make that one wait for it. Hardware takes no notice; neither do
// waits here.
class Destroyed {
 public:
  void Add(std::shared_ptr<Event> event) {
    if (event->IsShared()) return;
    const std::lock_guard<std::mutex> lock(mutex_);
    events_.push_back(std::move(event));
    if (events_.size() > kKept) events_.pop_front();
  }

  std::shared_ptr<Event> Find(const void* handle) const {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto found = std::find_if(events_.begin(), events_.end(),
                                    [handle](const auto& event) { return event.get() == handle; });
    return found == events_.end() ? nullptr : *found;
  }

 private:
  static constexpr size_t kKept = 1024;

  mutable std::mutex mutex_;
  std::deque<std::shared_ptr<Event>> events_;
};

Destroyed& DestroyedEvents() {
  static auto* destroyed = new Destroyed;
  return *destroyed;
}

aclError FindEventOrDestroyed(aclrtEvent handle, std::shared_ptr<Event>* event) {
  *event = Events().Find(handle);
  if (*event == nullptr) *event = DestroyedEvents().Find(handle);
  return *event == nullptr ? FindEvent(handle, event) : ACL_SUCCESS;
}

aclError Create(aclrtEvent* event, uint32_t flags, bool reusable) {
  return Guarded("aclrtCreateEvent", [&]() -> aclError {
    if (event == nullptr) return Fail(ACL_ERROR_INVALID_PARAM, "aclrtCreateEvent: event is null");
    std::shared_ptr<Event> created;
    if (flags == ACL_EVENT_EXTERNAL) {
      created = MakeExternalEvent();
    } else if (flags == ACL_EVENT_IPC) {
      if (const aclError error = MakeIpcEvent(&created)) return error;
    } else {
      created = MakeEvent((flags & ACL_EVENT_TIME_LINE) != 0, reusable);
    }
    *event = AddEvent(std::move(created));
    return ACL_SUCCESS;
  });
}

aclError CompletionTime(aclrtEvent handle, Event::Clock::time_point* when) {
  std::shared_ptr<Event> event;
  if (const aclError error = FindEvent(handle, &event)) return error;
  return event->Time(when);
}

// Looks the event and the stream up for a call that concerns both.
template <class Find, class Body>
aclError WithBoth(const char* call, Find find, aclrtEvent eventHandle, aclrtStream streamHandle, Body body) {
  return Guarded(call, [&]() -> aclError {
    std::shared_ptr<Event> event;
    std::shared_ptr<Stream> stream;
    if (const aclError error = find(eventHandle, &event)) return error;
    if (const aclError error = FindStream(streamHandle, &stream)) return error;
    return body(*event, stream);
  });
}

// A broken device completes nothing any more.
aclError HealthHere() {
  const std::shared_ptr<Context> context = Entered();
  return context == nullptr ? ACL_SUCCESS : context->device->Health();
}

}  // namespace

Event::Event() : id_(nextId++) {}

aclrtEvent AddEvent(std::shared_ptr<Event> event) { return Events().Add(std::move(event)); }

aclError FindEvent(aclrtEvent handle, std::shared_ptr<Event>* event) {
  *event = Events().Find(handle);
  return *event == nullptr ? Fail(ACL_ERROR_RT_INVALID_HANDLE, "not a live event") : ACL_SUCCESS;
}

aclError TaskWaited(Waited waited) {
  switch (waited) {
    case Waited::kUntilDone:
      return ACL_SUCCESS;
    case Waited::kTooLong:
      return Fail(ACL_ERROR_RT_TASK_TIMEOUT, "a stream waited too long for an event");
    case Waited::kInterrupted:
      return Fail(ACL_ERROR_RT_STREAM_ABORT, "the stream ended while it waited for an event");
  }
  return ACL_SUCCESS;
}

aclError HostWaited(Waited waited) {
  if (waited != Waited::kTooLong) return TaskWaited(waited);
  return Fail(ACL_ERROR_RT_EVENT_SYNC_TIMEOUT, "the event did not complete in time");
}

}  // namespace simulator

using namespace simulator;

aclError aclrtCreateEvent(aclrtEvent* event) { return Create(event, ACL_EVENT_TIME_LINE, false); }

aclError aclrtCreateEventWithFlag(aclrtEvent* event, uint32_t flag) { return Create(event, flag, false); }

aclError aclrtCreateEventExWithFlag(aclrtEvent* event, uint32_t flag) { return Create(event, flag, true); }

aclError aclrtDestroyEvent(aclrtEvent handle) {
  return Guarded("aclrtDestroyEvent", [&]() -> aclError {
    std::shared_ptr<Event> event = Events().Remove(handle);
    if (event == nullptr) return Fail(ACL_ERROR_RT_INVALID_HANDLE, "aclrtDestroyEvent: not a live event");
    DestroyedEvents().Add(std::move(event));
    return ACL_SUCCESS;
  });
}

aclError aclrtRecordEvent(aclrtEvent event, aclrtStream stream) {
  return Guarded("aclrtRecordEvent", [&]() -> aclError {
    return WithBoth("aclrtRecordEvent", FindEvent, event, stream,
                    [](Event& found, const auto& on) { return found.Record(on); });
  });
}

aclError aclrtResetEvent(aclrtEvent event, aclrtStream stream) {
  return Guarded("aclrtResetEvent", [&]() -> aclError {
    return WithBoth("aclrtResetEvent", FindEvent, event, stream,
                    [](Event& found, const auto& on) { return found.Reset(on); });
  });
}

aclError aclrtStreamWaitEvent(aclrtStream stream, aclrtEvent event) {
  return aclrtStreamWaitEventWithTimeout(stream, event, LongestWaitOfATask());
}

aclError aclrtStreamWaitEventWithTimeout(aclrtStream stream, aclrtEvent event, int32_t milliseconds) {
  return Guarded("aclrtStreamWaitEventWithTimeout", [&]() -> aclError {
    return WithBoth("aclrtStreamWaitEvent", FindEventOrDestroyed, event, stream,
                    [=](Event& found, const auto& on) { return found.Wait(on, milliseconds); });
  });
}

aclError aclrtSynchronizeEvent(aclrtEvent event) { return aclrtSynchronizeEventWithTimeout(event, -1); }

aclError aclrtSynchronizeEventWithTimeout(aclrtEvent handle, int32_t milliseconds) {
  const HostCallScope scope("aclrtSynchronizeEvent");
  return Guarded("aclrtSynchronizeEvent", [&]() -> aclError {
    std::shared_ptr<Event> event;
    if (const aclError error = FindEvent(handle, &event)) return error;
    if (const aclError error = HealthHere()) return error;
    return event->Synchronize(milliseconds);
  });
}

aclError aclrtQueryEventStatus(aclrtEvent handle, aclrtEventRecordedStatus* status) {
  return Guarded("aclrtQueryEventStatus", [&]() -> aclError {
    std::shared_ptr<Event> event;
    bool complete = false;
    if (status == nullptr) return Fail(ACL_ERROR_INVALID_PARAM, "aclrtQueryEventStatus: status is null");
    if (const aclError error = FindEvent(handle, &event)) return error;
    if (const aclError error = event->Query(&complete)) return error;
    *status = complete ? ACL_EVENT_RECORDED_STATUS_COMPLETE : ACL_EVENT_RECORDED_STATUS_NOT_READY;
    return ACL_SUCCESS;
  });
}

aclError aclrtQueryEventWaitStatus(aclrtEvent handle, aclrtEventWaitStatus* status) {
  return Guarded("aclrtQueryEventWaitStatus", [&]() -> aclError {
    std::shared_ptr<Event> event;
    if (status == nullptr) return Fail(ACL_ERROR_INVALID_PARAM, "aclrtQueryEventWaitStatus: status is null");
    if (const aclError error = FindEvent(handle, &event)) return error;
    *status = ACL_EVENT_WAIT_STATUS_COMPLETE;  // a pending wait does not need the event any more
    return ACL_SUCCESS;
  });
}

aclError aclrtEventElapsedTime(float* milliseconds, aclrtEvent start, aclrtEvent end) {
  return Guarded("aclrtEventElapsedTime", [&]() -> aclError {
    if (milliseconds == nullptr) return Fail(ACL_ERROR_INVALID_PARAM, "aclrtEventElapsedTime: no result");
    Event::Clock::time_point from;
    Event::Clock::time_point to;
    if (const aclError error = CompletionTime(start, &from)) return error;
    if (const aclError error = CompletionTime(end, &to)) return error;
    *milliseconds = std::chrono::duration<float, std::milli>(to - from).count();
    return ACL_SUCCESS;
  });
}

aclError aclrtEventGetTimestamp(aclrtEvent event, uint64_t* microseconds) {
  return Guarded("aclrtEventGetTimestamp", [&]() -> aclError {
    if (microseconds == nullptr) return Fail(ACL_ERROR_INVALID_PARAM, "aclrtEventGetTimestamp: no result");
    Event::Clock::time_point when;
    if (const aclError error = CompletionTime(event, &when)) return error;
    const auto since = std::chrono::duration_cast<std::chrono::microseconds>(when.time_since_epoch());
    *microseconds = static_cast<uint64_t>(since.count());
    return ACL_SUCCESS;
  });
}

aclError aclrtGetEventId(aclrtEvent handle, uint32_t* id) {
  return Guarded("aclrtGetEventId", [&]() -> aclError {
    std::shared_ptr<Event> event;
    if (id == nullptr) return Fail(ACL_ERROR_INVALID_PARAM, "aclrtGetEventId: no result");
    if (const aclError error = FindEvent(handle, &event)) return error;
    *id = static_cast<uint32_t>(event->Id());
    return ACL_SUCCESS;
  });
}
