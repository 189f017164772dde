#include "runtime/capture.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "runtime/context.h"
#include "runtime/error.h"
#include "runtime/queue.h"

namespace simulator {
namespace {

struct UnderWay {
  std::mutex mutex;
  std::vector<std::shared_ptr<Capture>> captures;
};

UnderWay& TheUnderWay() {
  static auto* underWay = new UnderWay;
  return *underWay;
}

std::vector<std::shared_ptr<Capture>> Captures() {
  const std::lock_guard<std::mutex> lock(TheUnderWay().mutex);
  return TheUnderWay().captures;
}

aclmdlRICaptureMode& ModeOfThisThread() {
  thread_local aclmdlRICaptureMode mode = ACL_MODEL_RI_CAPTURE_MODE_GLOBAL;
  return mode;
}

// The strictest mode among some captures.
using Strictest = std::optional<aclmdlRICaptureMode>;

void Tighten(Strictest* strictest, aclmdlRICaptureMode mode) {
  *strictest = std::min(strictest->value_or(mode), mode);
}

bool MayBlock(Strictest ofContext, Strictest ofThread) {
  switch (ModeOfThisThread()) {
    case ACL_MODEL_RI_CAPTURE_MODE_GLOBAL:
      return ofContext != ACL_MODEL_RI_CAPTURE_MODE_GLOBAL &&
             ofThread != ACL_MODEL_RI_CAPTURE_MODE_THREAD_LOCAL;
    case ACL_MODEL_RI_CAPTURE_MODE_THREAD_LOCAL:
      return ofThread.value_or(ACL_MODEL_RI_CAPTURE_MODE_RELAXED) == ACL_MODEL_RI_CAPTURE_MODE_RELAXED;
    case ACL_MODEL_RI_CAPTURE_MODE_RELAXED:
      return true;
  }
  return true;
}

std::string Named(const Stream& stream) { return "stream " + std::to_string(stream.Id()); }

}  // namespace

Capture::Capture(const Stream& origin, std::shared_ptr<Graph> graph, aclmdlRICaptureMode mode)
    : graph_(std::move(graph)), mode_(mode), origin_(origin.Id()) {}

aclError Capture::Begin(const std::shared_ptr<Stream>& origin, std::shared_ptr<Graph> graph,
                        aclmdlRICaptureMode mode) {
  const std::shared_ptr<Capture> capture(new Capture(*origin, std::move(graph), mode));
  capture->lanes_[origin->Id()].stream = origin;
  if (!origin->EnterCapture(capture)) {
    return Fail(ACL_ERROR_RT_STREAM_CAPTURED, Named(*origin) + " is captured already");
  }
  const std::lock_guard<std::mutex> lock(TheUnderWay().mutex);
  TheUnderWay().captures.push_back(capture);
  return ACL_SUCCESS;
}

aclError Capture::End(Stream& stream) {
  const std::shared_ptr<Capture> capture = stream.CapturedBy();
  if (capture == nullptr) {
    return Fail(ACL_ERROR_RT_STREAM_NOT_CAPTURED, Named(stream) + " captures nothing");
  }
  if (capture->origin_ != stream.Id()) {
    return Fail(ACL_ERROR_RT_STREAM_CAPTURE_UNMATCHED, "the capture did not begin on " + Named(stream));
  }
  return capture->Close();
}

aclError Capture::Close() {
  const std::lock_guard<std::mutex> lock(mutex_);
  aclError error = ACL_SUCCESS;
  if (mode_ != ACL_MODEL_RI_CAPTURE_MODE_RELAXED && thread_ != std::this_thread::get_id()) {
    error = Fail(ACL_ERROR_RT_STREAM_CAPTURE_WRONG_THREAD, "the capture was begun by another thread");
  }
  if (error == ACL_SUCCESS) error = CheckValid();
  if (error == ACL_SUCCESS) error = CheckComplete();
  Release();
  return error;
}

void Capture::Abandon(Stream& stream) {
  const std::lock_guard<std::mutex> lock(mutex_);
  stream.LeaveCapture();
  lanes_.erase(stream.Id());
  valid_ = false;
  if (stream.Id() == origin_) Release();
}

void Capture::Release() {
  for (const auto& entry : lanes_) entry.second.stream->LeaveCapture();
  lanes_.clear();
  const std::lock_guard<std::mutex> lock(TheUnderWay().mutex);
  auto& captures = TheUnderWay().captures;
  captures.erase(std::remove(captures.begin(), captures.end(), shared_from_this()), captures.end());
}

aclmdlRICaptureStatus Capture::Status() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (lanes_.empty()) return ACL_MODEL_RI_CAPTURE_STATUS_NONE;
  return valid_ ? ACL_MODEL_RI_CAPTURE_STATUS_ACTIVE : ACL_MODEL_RI_CAPTURE_STATUS_INVALIDATED;
}

aclError Capture::CheckValid() const {
  if (valid_) return ACL_SUCCESS;
  return Fail(ACL_ERROR_RT_STREAM_CAPTURE_INVALIDATED, "an error has made the capture invalid");
}

aclError Capture::Invalidate(aclError error) {
  valid_ = false;
  return error;
}

// While a task group is open on one stream, the others may not go on.
aclError Capture::CheckGroups(const Lane& lane) {
  if (lane.group != nullptr) return ACL_SUCCESS;
  const bool open = std::any_of(lanes_.begin(), lanes_.end(),
                                [](const auto& entry) { return entry.second.group != nullptr; });
  if (!open) return ACL_SUCCESS;
  return Invalidate(Fail(ACL_ERROR_STREAM_TASK_GROUP_INTR, "a task group is open on another stream"));
}

aclError Capture::FindLane(const Stream& stream, Lane** lane) {
  if (const aclError error = CheckValid()) return error;
  const auto found = lanes_.find(stream.Id());
  if (found == lanes_.end()) {
    return Fail(ACL_ERROR_RT_STREAM_NOT_CAPTURED, "the capture of " + Named(stream) + " has just ended");
  }
  *lane = &found->second;
  return CheckGroups(**lane);
}

aclError Capture::CheckComplete() const {
  if (graph_->HasCapturingBranch()) {
    return Fail(ACL_ERROR_RT_SUB_ACLGRAPH_IS_CAPTURING, "a branch of a condition is still captured");
  }
  const Lane& origin = lanes_.at(origin_);
  for (const auto& [id, lane] : lanes_) {
    if (lane.group != nullptr) return Fail(ACL_ERROR_STREAM_TASK_GROUP_STATUS, "a task group is still open");
    const auto seen = origin.before.find(id);
    const auto last = lane.before.find(id);
    const bool joined = seen != origin.before.end() && seen->second == last->second;
    if (id != origin_ && !joined) {
      return Fail(ACL_ERROR_RT_STREAM_UNJOINED,
                  Named(*lane.stream) + " was not joined to the stream that the capture began on");
    }
  }
  return ACL_SUCCESS;
}

aclError Capture::Add(const Stream& stream, Task task, const TaskLabel& label) {
  const std::lock_guard<std::mutex> lock(mutex_);
  Lane* lane = nullptr;
  if (const aclError error = FindLane(stream, &lane)) return error;
  if (lane->group != nullptr && !label.IsKernel()) {
    return Fail(ACL_ERROR_RT_TASK_TYPE_NOT_SUPPORT, "only kernels can be in a task group");
  }
  auto shared = std::make_shared<const Task>(std::move(task));
  const size_t node =
      graph_->Add({std::string(label.name), std::string(label.type), stream.Id(), std::move(shared)});
  if (lane->group != nullptr) lane->group->nodes.push_back(node);
  ++lane->before[stream.Id()];
  return ACL_SUCCESS;
}

aclError Capture::Record(const Stream& stream, int32_t event, Moment* moment) {
  const std::lock_guard<std::mutex> lock(mutex_);
  Lane* lane = nullptr;
  if (const aclError error = FindLane(stream, &lane)) return error;
  *moment = lane->before;
  graph_->Add({"EVENT_RECORD_" + std::to_string(event), "EVENT_RECORD", stream.Id(), nullptr});
  return ACL_SUCCESS;
}

aclError Capture::Wait(const std::shared_ptr<Stream>& stream, int32_t event, const Moment& moment) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (const aclError error = CheckValid()) return error;
  if (stream->CapturedBy().get() != this && !stream->EnterCapture(shared_from_this())) {
    return Invalidate(Fail(ACL_ERROR_STREAM_CAPTURE_CONFLICT, Named(*stream) + " is in another capture"));
  }
  Lane& lane = lanes_[stream->Id()];
  lane.stream = stream;
  if (const aclError error = CheckGroups(lane)) return error;
  for (const auto& [id, tasks] : moment) lane.before[id] = std::max(lane.before[id], tasks);
  ++lane.before[stream->Id()];
  graph_->Add({"EVENT_WAIT_" + std::to_string(event), "EVENT_WAIT", stream->Id(), nullptr});
  return ACL_SUCCESS;
}

aclError Capture::BeginGroup(const Stream& stream) {
  const std::lock_guard<std::mutex> lock(mutex_);
  Lane* lane = nullptr;
  if (const aclError error = FindLane(stream, &lane)) return error;
  if (lane->group != nullptr) {
    return Fail(ACL_ERROR_STREAM_TASK_GROUP_STATUS, "a task group is open on the stream already");
  }
  lane->group = std::make_shared<TaskGroup>(TaskGroup{graph_, {}});
  return ACL_SUCCESS;
}

aclError Capture::EndGroup(const Stream& stream, aclrtTaskGrp* handle) {
  const std::lock_guard<std::mutex> lock(mutex_);
  Lane* lane = nullptr;
  if (const aclError error = FindLane(stream, &lane)) return error;
  std::shared_ptr<TaskGroup> group = std::exchange(lane->group, nullptr);
  if (group == nullptr) {
    return Fail(ACL_ERROR_STREAM_TASK_GROUP_STATUS, "no task group is open on the stream");
  }
  *handle = graph_->Adopt(std::move(group));
  return ACL_SUCCESS;
}

std::shared_ptr<Capture> CaptureInto(const Graph& graph) {
  for (const auto& capture : Captures()) {
    if (capture->Into().get() == &graph) return capture;
  }
  return nullptr;
}

aclError AllowBlocking(const char* call) {
  Strictest ofContext;
  Strictest ofThread;
  for (const auto& capture : Captures()) {
    if (capture->Into()->In() != Entered()) continue;
    Tighten(&ofContext, capture->Mode());
    if (capture->Thread() == std::this_thread::get_id()) Tighten(&ofThread, capture->Mode());
  }
  if (!ofContext || MayBlock(ofContext, ofThread)) return ACL_SUCCESS;
  return Fail(ACL_ERROR_RT_CAPTURE_MODE_NOT_SUPPORT,
              std::string(call) + ": not while a stream is captured, unless in the relaxed mode");
}

aclmdlRICaptureMode ExchangeCaptureMode(aclmdlRICaptureMode mode) {
  return std::exchange(ModeOfThisThread(), mode);
}

}  // namespace simulator
