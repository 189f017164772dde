#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "acl/acl_base.h"

// What runs on the streams, for those who listen: the profiler and the trace of ASCENDENV_SIM_TRACE. While
// nobody does, a task costs one atomic load more than without.
namespace simulator {

enum class ActivityKind { kOperator, kCopy, kMemset, kCollective };

const char* NameOf(ActivityKind kind);

// A tensor that an operator reads or writes.
struct Operand {
  aclDataType dtype;
  aclFormat format;
  std::vector<int64_t> dims;
};

struct Operands {
  std::vector<Operand> inputs;
  std::vector<Operand> outputs;
};

// A task as whoever queues it knows it.
struct Activity {
  ActivityKind kind;
  std::string name;    // "aclnnAdd", "HcclAllReduce", "aclrtMemcpyAsync"
  uint64_t bytes = 0;  // of a copy or a memset
  Operands operands{};
};

// One run of a task. Times are nanoseconds of CLOCK_MONOTONIC_RAW, which torch_npu's profiler reads as well.
struct ActivityRun {
  Activity activity;
  int32_t device = 0;  // physical
  int32_t stream = 0;
  int32_t thread = 0;  // of the host, that queued it
  uint64_t queued = 0;
  uint64_t began = 0;
  uint64_t ended = 0;
  aclError result = ACL_SUCCESS;
};

class ActivityListener {
 public:
  ActivityListener() = default;
  ActivityListener(const ActivityListener&) = delete;
  ActivityListener& operator=(const ActivityListener&) = delete;
  virtual ~ActivityListener() = default;

  virtual void Ran(const ActivityRun& run) = 0;  // called on the threads of the streams, several at once
};

ACL_FUNC_VISIBILITY void Listen(std::shared_ptr<ActivityListener> listener);
ACL_FUNC_VISIBILITY void StopListening(const ActivityListener& listener);  // no call is under way afterwards
ACL_FUNC_VISIBILITY bool SomebodyListens();

ACL_FUNC_VISIBILITY std::function<aclError()> ObservedTask(Activity activity, std::function<aclError()> task);

// A task for a stream that listeners hear of: `describe` makes its Activity, and is only asked if there are
// any.
template <typename Describe>
std::function<aclError()> Observed(Describe&& describe, std::function<aclError()> task) {
  if (!SomebodyListens()) return task;
  return ObservedTask(std::forward<Describe>(describe)(), std::move(task));
}

}  // namespace simulator
