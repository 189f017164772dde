#include "runtime/activity.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <ctime>
#include <mutex>
#include <shared_mutex>

#include "runtime/device.h"
#include "runtime/queue.h"

namespace simulator {
namespace {

struct Listeners {
  std::shared_mutex mutex;
  std::vector<std::shared_ptr<ActivityListener>> all;
  std::atomic<bool> any{false};
};

// Never destroyed: streams may still run tasks while the process exits.
Listeners& TheListeners() {
  static auto* listeners = new Listeners;
  return *listeners;
}

template <typename Event>
void Tell(void (ActivityListener::*heard)(const Event&), const Event& event) {
  Listeners& listeners = TheListeners();
  const std::shared_lock<std::shared_mutex> lock(listeners.mutex);
  for (const auto& listener : listeners.all) ((*listener).*heard)(event);
}

}  // namespace

uint64_t MonotonicNow() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC_RAW, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
}

int32_t CurrentThread() { return static_cast<int32_t>(syscall(SYS_gettid)); }

void HostCallScope::Begin(const char* name) { call_ = HostCall{name, CurrentThread(), MonotonicNow(), 0}; }

void HostCallScope::End(HostCall& call) {
  call.ended = MonotonicNow();
  Tell(&ActivityListener::Called, call);
}

const char* NameOf(ActivityKind kind) {
  switch (kind) {
    case ActivityKind::kOperator:
      return "operator";
    case ActivityKind::kCopy:
      return "copy";
    case ActivityKind::kMemset:
      return "memset";
    case ActivityKind::kCollective:
      return "collective";
  }
  return "unknown";
}

void Listen(std::shared_ptr<ActivityListener> listener) {
  Listeners& listeners = TheListeners();
  const std::unique_lock<std::shared_mutex> lock(listeners.mutex);
  listeners.all.push_back(std::move(listener));
  listeners.any = true;
}

void StopListening(const ActivityListener& listener) {
  Listeners& listeners = TheListeners();
  const std::unique_lock<std::shared_mutex> lock(listeners.mutex);
  const auto is = [&listener](const auto& candidate) { return candidate.get() == &listener; };
  listeners.all.erase(std::remove_if(listeners.all.begin(), listeners.all.end(), is), listeners.all.end());
  listeners.any = !listeners.all.empty();
}

bool SomebodyListens() { return TheListeners().any.load(std::memory_order_relaxed); }

std::function<aclError()> ObservedTask(Activity activity, std::function<aclError()> task) {
  static std::atomic<uint64_t> last{0};
  ActivityRun run;
  run.id = ++last;
  run.activity = std::move(activity);
  run.thread = CurrentThread();
  run.queued = MonotonicNow();
  Tell(&ActivityListener::Queued, run);
  // A captured task runs as often as its graph does.
  return [queued = std::move(run), task = std::move(task)] {
    ActivityRun run = queued;
    run.stream = Stream::Running()->Id();
    run.device = Stream::Running()->Owner().PhysicalId();
    run.began = MonotonicNow();
    run.result = task();
    run.ended = MonotonicNow();
    Tell(&ActivityListener::Ran, run);
    return run.result;
  };
}

}  // namespace simulator
