#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "acl/acl_base.h"
#include "runtime/operand.h"

// What runs on the streams, for those who listen: the profiler and the trace of ASCENDENV_SIM_TRACE. While
// nobody does, a task costs one atomic load more than without.
namespace simulator {

enum class ActivityKind { kOperator, kCopy, kMemset, kCollective };

const char* NameOf(ActivityKind kind);

// A task as whoever queues it knows it.
struct Activity {
  ActivityKind kind;
  std::string name;   // "aclnnAdd", "HcclAllReduce", "aclrtMemcpyAsync"
  uint64_t bytes;     // of a copy or a memset
  Operands operands;  // of an operator
  std::string group;  // of a collective: its communicator
};

// One run of a task. Times are nanoseconds of CLOCK_MONOTONIC_RAW, which torch_npu's profiler reads as well.
struct ActivityRun {
  uint64_t id = 0;  // of the task: one that was captured runs several times
  Activity activity{};
  int32_t device = 0;  // physical
  int32_t stream = 0;
  int32_t thread = 0;  // of the host, that queued it
  uint64_t queued = 0;
  uint64_t began = 0;
  uint64_t ended = 0;
  aclError result = ACL_SUCCESS;
};

// One call of the interface by a thread of the host.
struct HostCall {
  std::string name;
  int32_t thread = 0;
  uint64_t began = 0;
  uint64_t ended = 0;
};

class ActivityListener {
 public:
  ActivityListener() = default;
  ActivityListener(const ActivityListener&) = delete;
  ActivityListener& operator=(const ActivityListener&) = delete;
  virtual ~ActivityListener() = default;

  // Called on the threads of the streams and of the host, several at once.
  virtual void Queued(const ActivityRun& /*run*/) {
  }  // by the calling thread; when it will run is not known yet
  virtual void Ran(const ActivityRun& run) = 0;
  virtual void Called(const HostCall& /*call*/) {}
};

ACL_FUNC_VISIBILITY void Listen(std::shared_ptr<ActivityListener> listener);
ACL_FUNC_VISIBILITY void StopListening(const ActivityListener& listener);  // no call is under way afterwards

ACL_FUNC_VISIBILITY std::function<aclError()> ObservedTask(Activity activity, std::function<aclError()> task);

// A task for a stream that listeners hear of: `describe` makes its Activity, and is only asked if there are
// any.
template <typename Describe>
std::function<aclError()> Observed(Describe&& describe, std::function<aclError()> task) {
  if (!SomebodyListens()) return task;
  return ObservedTask(std::forward<Describe>(describe)(), std::move(task));
}

// Lets listeners hear of the call of the interface in whose scope it lives.
class ACL_FUNC_VISIBILITY HostCallScope {
 public:
  explicit HostCallScope(const char* name) {
    if (SomebodyListens()) Begin(name);
  }
  HostCallScope(const HostCallScope&) = delete;
  HostCallScope& operator=(const HostCallScope&) = delete;
  ~HostCallScope() {
    if (call_) End(*call_);
  }

 private:
  void Begin(const char* name);
  static void End(HostCall& call);

  std::optional<HostCall> call_;
};

// Nanoseconds of CLOCK_MONOTONIC_RAW.
ACL_FUNC_VISIBILITY uint64_t MonotonicNow();
ACL_FUNC_VISIBILITY int32_t CurrentThread();

}  // namespace simulator
