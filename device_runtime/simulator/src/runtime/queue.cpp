#include "runtime/queue.h"

#include <pthread.h>

#include <atomic>
#include <string>
#include <system_error>
#include <thread>
#include <utility>

#include "runtime/context.h"
#include "runtime/device.h"
#include "runtime/error.h"

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

aclError Stream::Append(Task task, When when) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (!UsableHere()) return RefuseAfterFork();
  if (stopping_) return Fail(ACL_ERROR_RT_INVALID_HANDLE, "the stream is being destroyed");
  if (!started_ && !Start()) {
    return Fail(ACL_ERROR_RT_NO_STREAM_RESOURCE, "the host has no thread left for a simulated stream");
  }
  entries_.push_back({std::move(task), when});
  ++appended_;
  wake_.notify_one();
  return ACL_SUCCESS;
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
  if (!UsableHere()) return RefuseAfterFork();
  if (!Reach(lock, timeout)) {
    return Fail(ACL_ERROR_RT_STREAM_SYNC_TIMEOUT,
                "the stream did not finish within " + std::to_string(timeout) + " ms");
  }
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

std::optional<Failure> Stream::CurrentFailure() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return failure_;
}

void Stream::StopOnFailure(bool stop) {
  const std::lock_guard<std::mutex> lock(mutex_);
  stopOnFailure_ = stop;
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
  const bool skip = failure_ && stopOnFailure_ && entry.when == When::kUnlessFailed;
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
