#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <memory>
#include <new>
#include <string>
#include <thread>

#include "acl/acl_rt.h"
#include "runtime/boundary.h"
#include "runtime/error.h"
#include "runtime/event.h"
#include "runtime/failure.h"
#include "runtime/offer.h"
#include "runtime/open_file.h"
#include "runtime/queue.h"

// Events that several processes record and wait for. What they share stands in an anonymous file of the
// process that made the event; the others open it under /proc, and keep it alive from then on.

namespace simulator {
namespace {

struct Shared {
  uint64_t stamp;                    // of the process that made it; tells a stale handle from a new one
  std::atomic<uint64_t> recorded;    // how many recordings were queued
  std::atomic<uint64_t> completed;   // the newest one that its stream has reached
  std::atomic<int32_t> recorder;     // the process that queued the last one
  std::atomic<int32_t> failureCode;  // of its stream, at that point
};

struct Name {
  pid_t process;
  int descriptor;
  uint64_t stamp;
};

static_assert(sizeof(Name) <= sizeof(aclrtIpcEventHandle));

std::shared_ptr<Shared> Map(const OpenFile& file) {
  if (!file.Good()) return nullptr;
  void* page = mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED, file.Descriptor(), 0);
  if (page == MAP_FAILED) return nullptr;
  return {static_cast<Shared*>(page), [](Shared* shared) { munmap(shared, sizeof(Shared)); }};
}

bool IsGone(pid_t process) { return kill(process, 0) != 0 && errno == ESRCH; }

class IpcEvent : public Event {
 public:
  IpcEvent(std::unique_ptr<const OpenFile> file, std::shared_ptr<Shared> shared)
      : file_(std::move(file)), shared_(std::move(shared)) {}

  bool IsShared() const override { return true; }

  aclError Record(const std::shared_ptr<Stream>& stream) override {
    if (const aclError error = RefuseCapture(*stream)) return error;
    shared_->recorder = getpid();
    const uint64_t ticket = ++shared_->recorded;
    return stream->Append(
        [shared = shared_, ticket, owner = stream.get()] {
          const auto failure = owner->CurrentFailure();
          shared->failureCode = failure ? failure->code : ACL_SUCCESS;
          shared->completed = ticket;
          return ACL_SUCCESS;
        },
        Stream::When::kAlways);
  }

  aclError Wait(const std::shared_ptr<Stream>& stream, Milliseconds timeout) override {
    if (const aclError error = RefuseCapture(*stream)) return error;
    return stream->Append([shared = shared_, ticket = shared_->recorded.load(), timeout] {
      const aclError error = TaskWaited(Await(*shared, ticket, timeout));
      return error == ACL_SUCCESS ? Outcome(*shared, ticket) : error;
    });
  }

  aclError Reset(const std::shared_ptr<Stream>&) override {
    return Fail(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "an event between processes cannot be reset");
  }

  aclError Synchronize(Milliseconds timeout) override {
    const uint64_t ticket = shared_->recorded;
    const aclError error = HostWaited(Await(*shared_, ticket, timeout));
    return error == ACL_SUCCESS ? Outcome(*shared_, ticket) : error;
  }

  aclError Query(bool* complete) override {
    *complete = shared_->recorded > 0 && shared_->completed >= shared_->recorded;
    return ACL_SUCCESS;
  }

  aclError Time(Clock::time_point*) override {
    return Fail(ACL_ERROR_RT_EVENT_TIMESTAMP_INVALID, "an event between processes has no time");
  }

  Name Named() const { return {getpid(), file_->Descriptor(), shared_->stamp}; }

 private:
  static aclError RefuseCapture(const Stream& stream) {
    if (stream.CapturedBy() == nullptr) return ACL_SUCCESS;
    return Fail(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "an event between processes cannot be captured");
  }

  static Waited Await(const Shared& shared, uint64_t ticket, Milliseconds timeout) {
    const auto deadline = Clock::now() + std::chrono::milliseconds(std::max(timeout, 0));
    while (shared.completed < ticket && !IsGone(shared.recorder)) {
      if (ThisStreamEnds()) return Waited::kInterrupted;
      if (timeout >= 0 && Clock::now() >= deadline) return Waited::kTooLong;
      std::this_thread::sleep_for(std::chrono::microseconds(100));
    }
    return Waited::kUntilDone;
  }

  static aclError Outcome(const Shared& shared, uint64_t ticket) {
    if (shared.completed < ticket) {
      return Fail(ACL_ERROR_RT_SUSPECT_REMOTE_ERROR, "the process that recorded the event has ended");
    }
    const aclError code = shared.failureCode;
    return code == ACL_SUCCESS ? code : Fail(code, "the stream that recorded the event has failed");
  }

  const std::unique_ptr<const OpenFile> file_;
  const std::shared_ptr<Shared> shared_;
};

aclError Make(int descriptor, uint64_t stamp, std::shared_ptr<Event>* event) {
  auto file = std::make_unique<const OpenFile>(descriptor);
  std::shared_ptr<Shared> shared = Map(*file);
  if (shared == nullptr) return Fail(ACL_ERROR_RT_NO_EVENT_RESOURCE, "the host has no memory for an event");
  if (shared->stamp != stamp)
    return Fail(ACL_ERROR_RT_IPC_ERROR, "the handle is of an event that is no more");
  *event = std::make_shared<IpcEvent>(std::move(file), std::move(shared));
  return ACL_SUCCESS;
}

}  // namespace

aclError MakeIpcEvent(std::shared_ptr<Event>* event) {
  const int descriptor = memfd_create("simulated-npu-event", MFD_CLOEXEC);
  const uint64_t stamp = StampOfThisProcess();
  const bool made = descriptor >= 0 && ftruncate(descriptor, sizeof(Shared)) == 0 &&
                    pwrite(descriptor, &stamp, sizeof(stamp), 0) == sizeof(stamp);
  if (made) return Make(descriptor, stamp, event);
  if (descriptor >= 0) close(descriptor);
  return Fail(ACL_ERROR_RT_NO_EVENT_RESOURCE, "the host has no memory for an event");
}

}  // namespace simulator

using namespace simulator;

aclError aclrtIpcGetEventHandle(aclrtEvent eventHandle, aclrtIpcEventHandle* handle) {
  return Guarded("aclrtIpcGetEventHandle", [&]() -> aclError {
    std::shared_ptr<Event> event;
    if (handle == nullptr) return Fail(ACL_ERROR_INVALID_PARAM, "aclrtIpcGetEventHandle: no result");
    if (const aclError error = FindEvent(eventHandle, &event)) return error;
    const auto* shared = dynamic_cast<const IpcEvent*>(event.get());
    if (shared == nullptr) {
      return Fail(ACL_ERROR_RT_PARAM_INVALID, "aclrtIpcGetEventHandle: not an event of ACL_EVENT_IPC");
    }
    const Name name = shared->Named();
    *handle = {};
    std::memcpy(handle->reserved, &name, sizeof(name));
    return ACL_SUCCESS;
  });
}

aclError aclrtIpcOpenEventHandle(aclrtIpcEventHandle handle, aclrtEvent* eventHandle) {
  return Guarded("aclrtIpcOpenEventHandle", [&]() -> aclError {
    Name name{};
    std::shared_ptr<Event> event;
    if (eventHandle == nullptr) return Fail(ACL_ERROR_INVALID_PARAM, "aclrtIpcOpenEventHandle: no result");
    std::memcpy(&name, handle.reserved, sizeof(name));
    const std::string path =
        "/proc/" + std::to_string(name.process) + "/fd/" + std::to_string(name.descriptor);
    const int descriptor = open(path.c_str(), O_RDWR | O_CLOEXEC);
    if (descriptor < 0) {
      return Fail(ACL_ERROR_RT_IPC_ERROR, "aclrtIpcOpenEventHandle: its process has no such event");
    }
    if (const aclError error = Make(descriptor, name.stamp, &event)) return error;
    *eventHandle = AddEvent(std::move(event));
    return ACL_SUCCESS;
  });
}
