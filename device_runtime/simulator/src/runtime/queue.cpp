#include "runtime/queue.h"

#include <pthread.h>

#include <atomic>
#include <string>
#include <system_error>
#include <thread>
#include <utility>

#include "runtime/capture.h"
#include "runtime/context.h"
#include "runtime/device.h"
#include "runtime/error.h"
#include "runtime/graph.h"

namespace simulator {
namespace {

std::atomic<int32_t> nextId{0};
thread_local const Stream* workerOf = nullptr;

// Threads do not survive a fork: a child must be told so instead of waiting for them for ever.
std::atomic<int> generation{0};
const int forkWatched = pthread_atfork(nullptr, nullptr, [] { ++generation; });

aclError RefuseAfterFork() {
  return Fail(ACL_ERROR_RT_CONTEXT_NULL,
              "this process was forked from one that had used the device: start it with spawn");
}

}  // namespace

Stream::Stream(std::shared_ptr<Context> context) : context_(std::move(context)), id_(nextId++) {}

const Stream* Stream::Running() { return workerOf; }

const Device& Stream::Owner() const { return *context_->device; }

aclError Stream::Append(Task task, When when, const TaskLabel& label) {
  std::unique_lock<std::mutex> lock(mutex_);
  if (update_) {
    if (const aclError error = TurnIntoUpdate(&*update_, &task, label)) return error;
  } else if (const std::shared_ptr<Capture> capture = capture_) {
    lock.unlock();
    return capture->Add(*this, std::move(task), label);
  }
  return Push(std::move(task), when);
}

aclError Stream::Push(Task task, When when) {
  if (!UsableHere()) return RefuseAfterFork();
  if (stopping_) return Fail(ACL_ERROR_RT_INVALID_HANDLE, "the stream is being destroyed");
  if (aborting_) return Report(aborted_);
  if (!started_ && !Start()) {
    return Fail(ACL_ERROR_RT_NO_STREAM_RESOURCE, "the host has no thread left for a simulated stream");
  }
  entries_.push_back({std::move(task), when});
  ++appended_;
  wake_.notify_one();
  return ACL_SUCCESS;
}

aclError Stream::TurnIntoUpdate(Update* update, Task* task, const TaskLabel& label) {
  if (!label.IsKernel())
    return Fail(ACL_ERROR_RT_TASK_TYPE_NOT_SUPPORT, "only kernels can update a task group");
  const auto& nodes = update->group->nodes;
  if (update->next == nodes.size()) {
    return Fail(ACL_ERROR_RT_INTERNAL_ERROR,
                "the task group has only " + std::to_string(nodes.size()) + " kernels");
  }
  *task = [graph = update->group->graph, node = nodes[update->next++], kernel = std::move(*task)] {
    if (const auto alive = graph.lock()) alive->Replace(node, kernel);
    return ACL_SUCCESS;
  };
  return ACL_SUCCESS;
}

aclError Stream::BeginUpdate(std::shared_ptr<TaskGroup> group) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (capture_ != nullptr) return Fail(ACL_ERROR_RT_STREAM_CAPTURED, "a captured stream cannot update tasks");
  if (update_) return Fail(ACL_ERROR_STREAM_TASK_GROUP_STATUS, "the stream is updating tasks already");
  update_ = Update{std::move(group)};
  return ACL_SUCCESS;
}

aclError Stream::EndUpdate() {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (!update_) return Fail(ACL_ERROR_STREAM_TASK_GROUP_STATUS, "the stream is not updating tasks");
  const size_t expected = update_->group->nodes.size();
  const size_t updated = update_->next;
  update_.reset();
  if (updated == expected) return ACL_SUCCESS;
  return Fail(ACL_ERROR_RT_INTERNAL_ERROR, std::to_string(updated) + " of " + std::to_string(expected) +
                                               " kernels of the task group were updated");
}

std::shared_ptr<Capture> Stream::CapturedBy() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return capture_;
}

bool Stream::EnterCapture(std::shared_ptr<Capture> capture) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (capture_ != nullptr) return false;
  capture_ = std::move(capture);
  return true;
}

void Stream::LeaveCapture() {
  const std::lock_guard<std::mutex> lock(mutex_);
  capture_ = nullptr;
}

bool Stream::Start() {
  try {
    std::thread([self = shared_from_this()] { self->Work(); }).detach();
    started_ = true;
    startedIn_ = generation;
  } catch (const std::system_error&) {
    started_ = false;
  }
  return started_;
}

aclError Stream::Wait(Milliseconds timeout) {
  if (workerOf == this) {
    return Fail(ACL_ERROR_RT_STREAM_CONTEXT, "a task of the stream cannot wait for its own stream");
  }
  std::unique_lock<std::mutex> lock(mutex_);
  if (capture_ != nullptr) {
    return Fail(ACL_ERROR_RT_STREAM_CAPTURED, "a stream that is captured cannot be waited for");
  }
  if (!UsableHere()) return RefuseAfterFork();
  if (aborting_) return Report(aborted_);
  const uint64_t aborts = aborts_;
  if (!Reach(lock, timeout)) {
    return Fail(ACL_ERROR_RT_STREAM_SYNC_TIMEOUT,
                "the stream did not finish within " + std::to_string(timeout) + " ms");
  }
  if (aborts_ != aborts) return Report(aborted_);
  if (const aclError error = Owner().Health()) return error;
  if (!failure_) return ACL_SUCCESS;
  const Failure failure = *failure_;
  if (!stopOnFailure_) failure_.reset();
  return Report(failure);
}

void Stream::Drain() {
  std::unique_lock<std::mutex> lock(mutex_);
  if (workerOf != this && UsableHere()) Reach(lock, -1);
}

bool Stream::UsableHere() const { return !started_ || startedIn_ == generation; }

bool Stream::Reach(std::unique_lock<std::mutex>& lock, Milliseconds timeout) {
  const auto reached = [this, target = appended_] { return finished_ >= target; };
  if (timeout >= 0) return progress_.wait_for(lock, std::chrono::milliseconds(timeout), reached);
  progress_.wait(lock, reached);
  return true;
}

bool Stream::Idle() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return finished_ == appended_;
}

bool Stream::Ends() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return stopping_ || aborting_;
}

bool ThisStreamEnds() { return workerOf != nullptr && workerOf->Ends(); }

std::optional<Failure> Stream::CurrentFailure() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return failure_;
}

void Stream::StopOnFailure(bool stop) {
  const std::lock_guard<std::mutex> lock(mutex_);
  stopOnFailure_ = stop;
}

bool Stream::StopsOnFailure() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return stopOnFailure_;
}

StreamSettings Stream::Settings() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return settings_;
}

void Stream::Change(const std::function<void(StreamSettings&)>& change) {
  const std::lock_guard<std::mutex> lock(mutex_);
  change(settings_);
}

void Stream::BeginAbort(Failure why) {
  const std::lock_guard<std::mutex> lock(mutex_);
  aborted_ = std::move(why);
  ++aborts_;
  aborting_ = true;
  failure_ = aborted_;
}

bool Stream::EndAbort(Milliseconds timeout) {
  std::unique_lock<std::mutex> lock(mutex_);
  if (UsableHere() && !Reach(lock, timeout)) return false;
  aborting_ = false;
  failure_.reset();
  return true;
}

bool Stream::Stop(Milliseconds patience) {
  std::unique_lock<std::mutex> lock(mutex_);
  if (!UsableHere()) return true;
  stopping_ = true;
  stopOnFailure_ = true;
  if (!failure_ && finished_ != appended_) {
    failure_ = MakeFailure(ACL_ERROR_RT_STREAM_ABORT, "the stream was destroyed");
  }
  if (!started_ || workerOf == this) return true;
  wake_.notify_one();
  return progress_.wait_for(lock, std::chrono::milliseconds(patience), [this] { return ended_; });
}

void Stream::Work() {
  workerOf = this;
  pthread_setname_np(pthread_self(), ("npu-stream-" + std::to_string(id_ % 1000)).c_str());
  Enter(context_);
  std::unique_lock<std::mutex> lock(mutex_);
  while (RunNext(lock)) {
  }
  ended_ = true;
  progress_.notify_all();
}

bool Stream::RunNext(std::unique_lock<std::mutex>& lock) {
  wake_.wait(lock, [this] { return stopping_ || !entries_.empty(); });
  if (entries_.empty()) return false;
  Entry entry = std::move(entries_.front());
  entries_.pop_front();
  const bool stopped = aborting_ || (failure_ && stopOnFailure_);
  const bool skip = stopped && entry.when == When::kUnlessFailed;
  lock.unlock();
  std::optional<Failure> failure = skip ? std::nullopt : FailureOf(entry.task());
  entry.task = nullptr;  // what it holds is released before anybody hears that it has run
  lock.lock();
  if (!failure_) failure_ = std::move(failure);
  ++finished_;
  progress_.notify_all();
  return true;
}

}  // namespace simulator
