#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>

#include "runtime/error.h"
#include "runtime/event.h"
#include "runtime/queue.h"
#include "runtime/waiting.h"

namespace simulator {
namespace {

class ExternalEvent : public Event {
 public:
  aclError Record(const std::shared_ptr<Stream>& stream) override {
    return stream->Append([self = Self()] { return self->Set(Clock::now()); }, Stream::When::kAlways,
                          {"EXTERNAL_EVENT_RECORD"});
  }

  aclError Wait(const std::shared_ptr<Stream>& stream, Milliseconds timeout) override {
    return stream->Append([self = Self(), timeout] { return TaskWaited(self->Await(timeout)); },
                          Stream::When::kUnlessFailed, {"EXTERNAL_EVENT_WAIT"});
  }

  aclError Reset(const std::shared_ptr<Stream>& stream) override {
    return stream->Append([self = Self()] { return self->Set(std::nullopt); }, Stream::When::kUnlessFailed,
                          {"EXTERNAL_EVENT_RESET"});
  }

  aclError Synchronize(Milliseconds timeout) override { return HostWaited(Await(timeout)); }

  aclError Query(bool* complete) override {
    const std::lock_guard<std::mutex> lock(mutex_);
    *complete = set_.has_value();
    return ACL_SUCCESS;
  }

  aclError Time(Clock::time_point* completed) override {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (!set_) return Fail(ACL_ERROR_RT_EVENT_TIMESTAMP_INVALID, "the event is not recorded yet");
    *completed = *set_;
    return ACL_SUCCESS;
  }

 private:
  std::shared_ptr<ExternalEvent> Self() {
    return std::static_pointer_cast<ExternalEvent>(shared_from_this());
  }

  aclError Set(std::optional<Clock::time_point> when) {
    const std::lock_guard<std::mutex> lock(mutex_);
    set_ = when;
    changed_.notify_all();
    return ACL_SUCCESS;
  }

  Waited Await(Milliseconds timeout) {
    std::unique_lock<std::mutex> lock(mutex_);
    return WaitUntil(changed_, lock, timeout, [this] { return set_.has_value(); });
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<Clock::time_point> set_;
};

}  // namespace

std::shared_ptr<Event> MakeExternalEvent() { return std::make_shared<ExternalEvent>(); }

}  // namespace simulator
