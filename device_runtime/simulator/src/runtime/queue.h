#pragma once

#include <array>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>

#include "acl/acl_base.h"
#include "runtime/failure.h"
#include "runtime/task.h"

namespace simulator {

class Capture;
struct Context;
class Device;
struct TaskGroup;

// Negative for ever, as the runtime's timeouts are.
using Milliseconds = int32_t;

// By type: cube cores, vector cores.
using CoreLimits = std::array<std::optional<uint32_t>, 2>;

struct StreamSettings {
  uint32_t priority = 0;
  uint32_t flags = 0;
  uint32_t tag = 0;
  uint32_t cacheOperators = 0;
  CoreLimits coreLimits;
};

// A queue of tasks and the thread that runs them in order. The thread starts with the first task and keeps
// the stream alive, so a task that never ends can be abandoned.
class Stream : public std::enable_shared_from_this<Stream> {
 public:
  enum class When { kUnlessFailed, kAlways };

  explicit Stream(std::shared_ptr<Context> context);

  static const Stream* Running();  // the stream whose task calls; nullptr on other threads

  int32_t Id() const { return id_; }
  const std::shared_ptr<Context>& In() const { return context_; }
  const Device& Owner() const;

  aclError Append(Task task, When when = When::kUnlessFailed, const TaskLabel& label = {});
  aclError Wait(Milliseconds timeout);  // until all that is queued now has run; then reports the failure
  void Drain();                         // the same, leaving the failure for others to report
  bool Idle() const;
  bool Ends() const;
  std::optional<Failure> CurrentFailure() const;

  // After an error: stop at it for good, or go on with the next task and forget the error once it is
  // reported.
  void StopOnFailure(bool stop);
  bool StopsOnFailure() const;

  StreamSettings Settings() const;
  void Change(const std::function<void(StreamSettings&)>& change);

  // While a capture has the stream, its tasks are written down instead of run.
  std::shared_ptr<Capture> CapturedBy() const;
  bool EnterCapture(std::shared_ptr<Capture> capture);  // false when it is in one already
  void LeaveCapture();

  // In between, kernels do not run but take the places of those of the group.
  aclError BeginUpdate(std::shared_ptr<TaskGroup> group);
  aclError EndUpdate();

  // Skips what is queued and interrupts what waits in the running task. Until the end no task is taken; who
  // waits for the stream hears of the abort, and after the end it is as new. False when the task does not end
  // in time.
  void BeginAbort(Failure why);
  bool EndAbort(Milliseconds timeout);

  // Skips what is queued and ends the thread; false when the running task does not end in time.
  bool Stop(Milliseconds patience);

 private:
  struct Entry {
    Task task;
    When when;
  };

  struct Update {
    std::shared_ptr<TaskGroup> group;
    size_t next = 0;
  };

  aclError Push(Task task, When when);
  static aclError TurnIntoUpdate(Update* update, Task* task, const TaskLabel& label);
  bool Start();
  bool UsableHere() const;
  bool Reach(std::unique_lock<std::mutex>& lock, Milliseconds timeout);
  void Work();
  bool RunNext(std::unique_lock<std::mutex>& lock);

  const std::shared_ptr<Context> context_;
  const int32_t id_;
  mutable std::mutex mutex_;
  std::condition_variable wake_;
  std::condition_variable progress_;
  std::deque<Entry> entries_;
  std::optional<Failure> failure_;
  StreamSettings settings_;
  std::shared_ptr<Capture> capture_;
  std::optional<Update> update_;
  Failure aborted_{};  // what the last abort says
  uint64_t aborts_ = 0;
  uint64_t appended_ = 0;
  uint64_t finished_ = 0;
  bool stopOnFailure_ = false;
  bool stopping_ = false;
  bool aborting_ = false;
  bool started_ = false;
  int startedIn_ = 0;  // which generation of forked processes the thread belongs to
  bool ended_ = false;
};

// Whether this thread runs a task of a stream that is to end, or a task that is aborted.
bool ThisStreamEnds();

// Whether it is the default stream of its context.
bool IsDefault(const Stream& stream);

// The stream behind a handle; nullptr is the default stream of the current context.
aclError FindStream(aclrtStream handle, std::shared_ptr<Stream>* stream);

// Waits for every stream of the device; reports the first failure.
aclError SynchronizeStreams(const Device& device, Milliseconds timeout);

// Aborts the tasks of every stream of the device; false when one does not end in time.
bool AbortStreams(const Device& device, const Failure& why, Milliseconds timeout);

// Stops and forgets every stream of the device; false when a task does not end.
bool StopStreams(const Device& device);

// Stops and forgets the default stream of a context that comes to its end.
void StopDefaultStream(Context& context);

// Waits for every stream of the device without taking note of failures.
void DrainStreams(const Device& device);

}  // namespace simulator
