#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "acl/acl_rt.h"
#include "runtime/context.h"
#include "runtime/device.h"
#include "runtime/error.h"
#include "runtime/failure.h"
#include "runtime/handles.h"
#include "runtime/queue.h"

namespace simulator {
namespace {

using Clock = std::chrono::steady_clock;

// One recording of an event. Waits hold on to the recording they saw, so the event may be recorded again, or
// destroyed, while they are pending.
class Recording {
 public:
  void Complete(std::optional<Failure> failure) {
    const std::lock_guard<std::mutex> lock(mutex_);
    when_ = Clock::now();
    failure_ = std::move(failure);
    completed_.notify_all();
  }

  aclError Wait() {
    std::unique_lock<std::mutex> lock(mutex_);
    completed_.wait(lock, [this] { return when_.has_value(); });
    return failure_ ? Report(*failure_) : ACL_SUCCESS;
  }

  std::optional<Clock::time_point> When() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    return when_;
  }

 private:
  mutable std::mutex mutex_;
  std::condition_variable completed_;
  std::optional<Clock::time_point> when_;
  std::optional<Failure> failure_;  // of the stream, at that point
};

class Event {
 public:
  explicit Event(bool timed) : timed_(timed) {}

  bool Timed() const { return timed_; }

  std::shared_ptr<Recording> Last() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    return last_;
  }

  void SetLast(std::shared_ptr<Recording> recording) {
    const std::lock_guard<std::mutex> lock(mutex_);
    last_ = std::move(recording);
  }

 private:
  const bool timed_;
  mutable std::mutex mutex_;
  std::shared_ptr<Recording> last_;
};

Handles<Event>& Events() {
  static auto* events = new Handles<Event>;
  return *events;
}

aclError FindEvent(aclrtEvent handle, std::shared_ptr<Event>* event) {
  *event = Events().Find(handle);
  return *event == nullptr ? Fail(ACL_ERROR_RT_INVALID_HANDLE, "not a live event") : ACL_SUCCESS;
}

aclError Create(aclrtEvent* event, bool timed) {
  if (event == nullptr) return Fail(ACL_ERROR_INVALID_PARAM, "aclrtCreateEvent: event is null");
  *event = Events().Add(std::make_shared<Event>(timed));
  return ACL_SUCCESS;
}

aclError CompletionTime(aclrtEvent handle, Clock::time_point* when) {
  std::shared_ptr<Event> event;
  if (const aclError error = FindEvent(handle, &event)) return error;
  if (!event->Timed()) {
    return Fail(ACL_ERROR_RT_EVENT_TIMESTAMP_INVALID, "the event was created without ACL_EVENT_TIME_LINE");
  }
  const std::shared_ptr<Recording> recording = event->Last();
  const auto completed = recording == nullptr ? std::nullopt : recording->When();
  if (!completed) return Fail(ACL_ERROR_RT_EVENT_TIMESTAMP_INVALID, "the event is not recorded yet");
  *when = *completed;
  return ACL_SUCCESS;
}

}  // namespace
}  // namespace simulator

using namespace simulator;

aclError aclrtCreateEvent(aclrtEvent* event) { return Create(event, true); }

aclError aclrtCreateEventWithFlag(aclrtEvent* event, uint32_t flag) {
  return Create(event, (flag & ACL_EVENT_TIME_LINE) != 0);
}

aclError aclrtCreateEventExWithFlag(aclrtEvent* event, uint32_t flag) {
  return aclrtCreateEventWithFlag(event, flag);
}

aclError aclrtDestroyEvent(aclrtEvent handle) {
  if (Events().Remove(handle) != nullptr) return ACL_SUCCESS;
  return Fail(ACL_ERROR_RT_INVALID_HANDLE, "aclrtDestroyEvent: not a live event");
}

aclError aclrtRecordEvent(aclrtEvent handle, aclrtStream streamHandle) {
  std::shared_ptr<Event> event;
  std::shared_ptr<Stream> stream;
  if (const aclError error = FindEvent(handle, &event)) return error;
  if (const aclError error = FindStream(streamHandle, &stream)) return error;
  auto recording = std::make_shared<Recording>();
  const aclError error = stream->Append(
      [recording, owner = stream.get()] {
        recording->Complete(owner->CurrentFailure());
        return ACL_SUCCESS;
      },
      Stream::When::kAlways);
  if (error == ACL_SUCCESS) event->SetLast(std::move(recording));
  return error;
}

aclError aclrtResetEvent(aclrtEvent handle, aclrtStream) {
  std::shared_ptr<Event> event;
  if (const aclError error = FindEvent(handle, &event)) return error;
  event->SetLast(nullptr);
  return ACL_SUCCESS;
}

aclError aclrtStreamWaitEvent(aclrtStream streamHandle, aclrtEvent handle) {
  std::shared_ptr<Event> event;
  if (const aclError error = FindEvent(handle, &event)) return error;
  std::shared_ptr<Recording> recording = event->Last();
  if (recording == nullptr) return ACL_SUCCESS;
  std::shared_ptr<Stream> stream;
  if (const aclError error = FindStream(streamHandle, &stream)) return error;
  return stream->Append([recording = std::move(recording)] { return recording->Wait(); });
}

aclError aclrtSynchronizeEvent(aclrtEvent handle) {
  std::shared_ptr<Event> event;
  if (const aclError error = FindEvent(handle, &event)) return error;
  const std::shared_ptr<Context> context = Entered();
  if (context != nullptr) {
    if (const aclError error = context->device->Health()) return error;
  }
  const std::shared_ptr<Recording> recording = event->Last();
  return recording == nullptr ? ACL_SUCCESS : recording->Wait();
}

aclError aclrtQueryEventStatus(aclrtEvent handle, aclrtEventRecordedStatus* status) {
  std::shared_ptr<Event> event;
  if (status == nullptr) return Fail(ACL_ERROR_INVALID_PARAM, "aclrtQueryEventStatus: status is null");
  if (const aclError error = FindEvent(handle, &event)) return error;
  const std::shared_ptr<Recording> recording = event->Last();
  const bool complete = recording != nullptr && recording->When().has_value();
  *status = complete ? ACL_EVENT_RECORDED_STATUS_COMPLETE : ACL_EVENT_RECORDED_STATUS_NOT_READY;
  return ACL_SUCCESS;
}

aclError aclrtQueryEventWaitStatus(aclrtEvent handle, aclrtEventWaitStatus* status) {
  std::shared_ptr<Event> event;
  if (status == nullptr) return Fail(ACL_ERROR_INVALID_PARAM, "aclrtQueryEventWaitStatus: status is null");
  if (const aclError error = FindEvent(handle, &event)) return error;
  *status = ACL_EVENT_WAIT_STATUS_COMPLETE;  // a pending wait does not need the event any more
  return ACL_SUCCESS;
}

aclError aclrtEventElapsedTime(float* milliseconds, aclrtEvent start, aclrtEvent end) {
  if (milliseconds == nullptr) return Fail(ACL_ERROR_INVALID_PARAM, "aclrtEventElapsedTime: no result");
  Clock::time_point from;
  Clock::time_point to;
  if (const aclError error = CompletionTime(start, &from)) return error;
  if (const aclError error = CompletionTime(end, &to)) return error;
  *milliseconds = std::chrono::duration<float, std::milli>(to - from).count();
  return ACL_SUCCESS;
}

aclError aclrtEventGetTimestamp(aclrtEvent event, uint64_t* microseconds) {
  if (microseconds == nullptr) return Fail(ACL_ERROR_INVALID_PARAM, "aclrtEventGetTimestamp: no result");
  Clock::time_point when;
  if (const aclError error = CompletionTime(event, &when)) return error;
  const auto since = std::chrono::duration_cast<std::chrono::microseconds>(when.time_since_epoch());
  *microseconds = static_cast<uint64_t>(since.count());
  return ACL_SUCCESS;
}
