#include "mspti/collector.h"

#include <unistd.h>

#include <chrono>
#include <mutex>
#include <string>
#include <unordered_set>
#include <utility>

#include "mspti/correlation.h"

namespace simulator::mspti {
namespace {

thread_local uint64_t lastQueued = 0;  // by the call of this thread that is under way

uint64_t Shift() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return static_cast<uint64_t>(std::chrono::nanoseconds(now).count()) - MonotonicNow();
}

// Records point to names, and nobody says how long they are looked at.
const char* Kept(const std::string& name) {
  static auto* mutex = new std::mutex;
  static auto* names = new std::unordered_set<std::string>;
  const std::lock_guard<std::mutex> lock(*mutex);
  return names->insert(name).first->c_str();
}

// "Add" for aclnnAdd.
std::string TypeOf(const std::string& name) { return name.rfind("aclnn", 0) == 0 ? name.substr(5) : name; }

}  // namespace

bool IsCollected(msptiActivityKind kind) {
  return kind == MSPTI_ACTIVITY_KIND_KERNEL || kind == MSPTI_ACTIVITY_KIND_COMMUNICATION ||
         kind == MSPTI_ACTIVITY_KIND_ACL_API || kind == MSPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION;
}

std::atomic<bool>& Enabled(msptiActivityKind kind) {
  static std::array<std::atomic<bool>, MSPTI_ACTIVITY_KIND_ACL_API + 1> enabled{};
  return enabled.at(kind);
}

Collector::Collector(Buffers& buffers) : buffers_(buffers), shift_(Shift()) {}

void Collector::Queued(const ActivityRun& run) {
  lastQueued = run.id;
  if (!Enabled(MSPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION)) return;
  for (int kind = MSPTI_EXTERNAL_CORRELATION_KIND_UNKNOWN; kind < MSPTI_EXTERNAL_CORRELATION_KIND_SIZE;
       ++kind) {
    const auto external = static_cast<msptiExternalCorrelationKind>(kind);
    const auto id = TopExternal(external);
    if (!id) continue;
    buffers_.Append(
        msptiActivityExternalCorrelation{MSPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION, external, *id, run.id});
  }
}

void Collector::Ran(const ActivityRun& run) {
  const auto device = static_cast<uint32_t>(run.device);
  const auto stream = static_cast<uint32_t>(run.stream);
  const uint64_t began = SinceEpoch(run.began);
  const uint64_t ended = SinceEpoch(run.ended);
  const char* name = Kept(run.activity.name);
  if (run.activity.kind == ActivityKind::kOperator && Enabled(MSPTI_ACTIVITY_KIND_KERNEL)) {
    const char* type = Kept(TypeOf(run.activity.name));
    buffers_.Append(
        msptiActivityKernel{MSPTI_ACTIVITY_KIND_KERNEL, began, ended, {device, stream}, run.id, type, name});
  }
  if (run.activity.kind == ActivityKind::kCollective && Enabled(MSPTI_ACTIVITY_KIND_COMMUNICATION)) {
    buffers_.Append(msptiActivityCommunication{MSPTI_ACTIVITY_KIND_COMMUNICATION,
                                               MSPTI_ACTIVITY_COMMUNICATION_INVALID_TYPE,
                                               0,
                                               {device, stream},
                                               began,
                                               ended,
                                               "",
                                               name,
                                               Kept(run.activity.group),
                                               run.id});
  }
}

void Collector::Called(const HostCall& call) {
  const uint64_t queued = std::exchange(lastQueued, 0);
  if (!Enabled(MSPTI_ACTIVITY_KIND_ACL_API)) return;
  buffers_.Append(msptiActivityApi{MSPTI_ACTIVITY_KIND_ACL_API,
                                   SinceEpoch(call.began),
                                   SinceEpoch(call.ended),
                                   {static_cast<uint32_t>(getpid()), static_cast<uint32_t>(call.thread)},
                                   queued,
                                   Kept(call.name)});
}

}  // namespace simulator::mspti
