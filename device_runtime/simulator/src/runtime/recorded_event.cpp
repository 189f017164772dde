#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "acl/acl_rt.h"
#include "runtime/capture.h"
#include "runtime/error.h"
#include "runtime/event.h"
#include "runtime/failure.h"
#include "runtime/queue.h"
#include "runtime/waiting.h"

namespace simulator {
namespace {

// One recording of an event. Waits hold on to the recording they saw, so the event may be recorded again, or
// destroyed, while they are pending.
class Recording {
 public:
  void Complete(std::optional<Failure> failure) {
    const std::lock_guard<std::mutex> lock(mutex_);
    when_ = Event::Clock::now();
    failure_ = std::move(failure);
    completed_.notify_all();
  }

  Waited Wait(Milliseconds timeout) {
    std::unique_lock<std::mutex> lock(mutex_);
    return WaitUntil(completed_, lock, timeout, [this] { return when_.has_value(); });
  }

  // The failure of the stream at that point, if any.
  aclError Outcome() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    return failure_ ? Report(*failure_) : ACL_SUCCESS;
  }

  std::optional<Event::Clock::time_point> When() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    return when_;
  }

 private:
  mutable std::mutex mutex_;
  std::condition_variable completed_;
  std::optional<Event::Clock::time_point> when_;
  std::optional<Failure> failure_;
};

class RecordedEvent : public Event {
 public:
  RecordedEvent(bool timed, bool reusable) : timed_(timed), reusable_(reusable) {}

  aclError Record(const std::shared_ptr<Stream>& stream) override {
    if (const auto capture = stream->CapturedBy()) return RecordIn(capture, *stream);
    auto recording = std::make_shared<Recording>();
    const aclError error = stream->Append(
        [recording, owner = stream.get()] {
          recording->Complete(owner->CurrentFailure());
          return ACL_SUCCESS;
        },
        Stream::When::kAlways);
    if (error == ACL_SUCCESS) SetLast(std::move(recording));
    return error;
  }

  aclError Wait(const std::shared_ptr<Stream>& stream, Milliseconds timeout) override {
    Capture::Moment moment;
    if (const auto capture = CapturedBy(&moment)) {
      if (!IsDefault(*stream)) return capture->Wait(stream, Id(), moment);
      return Fail(ACL_ERROR_RT_STREAM_CAPTURE_IMPLICIT, "the default stream cannot join a capture");
    }
    const std::shared_ptr<Recording> recording = Last();
    if (recording == nullptr) return ACL_SUCCESS;
    if (stream->CapturedBy() != nullptr) {
      return Fail(ACL_ERROR_RT_CAPTURE_DEPENDENCY,
                  "a captured stream cannot wait for an event that was recorded outside of the capture");
    }
    return stream->Append([recording, timeout] {
      const aclError error = TaskWaited(recording->Wait(timeout));
      return error == ACL_SUCCESS ? recording->Outcome() : error;
    });
  }

  aclError Reset(const std::shared_ptr<Stream>&) override {
    SetLast(nullptr);
    return ACL_SUCCESS;
  }

  aclError Synchronize(Milliseconds timeout) override {
    if (const aclError error = CheckNotCaptured()) return error;
    const std::shared_ptr<Recording> recording = Last();
    if (recording == nullptr) return ACL_SUCCESS;
    const aclError error = HostWaited(recording->Wait(timeout));
    return error == ACL_SUCCESS ? recording->Outcome() : error;
  }

  aclError Query(bool* complete) override {
    if (const aclError error = CheckNotCaptured()) return error;
    const std::shared_ptr<Recording> recording = Last();
    *complete = recording != nullptr && recording->When().has_value();
    return ACL_SUCCESS;
  }

  aclError Time(Clock::time_point* completed) override {
    if (const aclError error = CheckNotCaptured()) return error;
    if (!timed_) {
      return Fail(ACL_ERROR_RT_EVENT_TIMESTAMP_INVALID, "the event was created without ACL_EVENT_TIME_LINE");
    }
    const std::shared_ptr<Recording> recording = Last();
    const auto when = recording == nullptr ? std::nullopt : recording->When();
    if (!when) return Fail(ACL_ERROR_RT_EVENT_TIMESTAMP_INVALID, "the event is not recorded yet");
    *completed = *when;
    return ACL_SUCCESS;
  }

 private:
  aclError RecordIn(const std::shared_ptr<Capture>& capture, const Stream& stream) {
    if (!reusable_) {
      return Fail(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
                  "only events of aclrtCreateEventExWithFlag and external ones can be captured");
    }
    Capture::Moment moment;
    if (const aclError error = capture->Record(stream, Id(), &moment)) return error;
    const std::lock_guard<std::mutex> lock(mutex_);
    capture_ = capture;
    moment_ = std::move(moment);
    return ACL_SUCCESS;
  }

  // The capture under way that it was last recorded in, if any.
  std::shared_ptr<Capture> CapturedBy(Capture::Moment* moment) const {
    const std::lock_guard<std::mutex> lock(mutex_);
    std::shared_ptr<Capture> capture = capture_.lock();
    if (capture == nullptr || capture->Status() == ACL_MODEL_RI_CAPTURE_STATUS_NONE) return nullptr;
    *moment = moment_;
    return capture;
  }

  aclError CheckNotCaptured() const {
    Capture::Moment moment;
    if (CapturedBy(&moment) == nullptr) return ACL_SUCCESS;
    return Fail(ACL_ERROR_RT_EVENT_CAPTURED, "the event was recorded in a capture that is under way");
  }

  std::shared_ptr<Recording> Last() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    return last_;
  }

  void SetLast(std::shared_ptr<Recording> recording) {
    const std::lock_guard<std::mutex> lock(mutex_);
    last_ = std::move(recording);
    capture_.reset();
  }

  const bool timed_;
  const bool reusable_;
  mutable std::mutex mutex_;
  std::shared_ptr<Recording> last_;
  std::weak_ptr<Capture> capture_;
  Capture::Moment moment_;
};

}  // namespace

std::shared_ptr<Event> MakeEvent(bool timed, bool reusable) {
  return std::make_shared<RecordedEvent>(timed, reusable);
}

}  // namespace simulator
