#include "runtime/condition.h"

#include <algorithm>
#include <string>
#include <utility>

#include "runtime/blocks.h"
#include "runtime/boundary.h"
#include "runtime/capture.h"
#include "runtime/context.h"
#include "runtime/error.h"
#include "runtime/graph.h"
#include "runtime/handles.h"
#include "runtime/queue.h"

namespace simulator {
namespace {

Handles<Condition>& Conditions() {
  static auto* conditions = new Handles<Condition>;
  return *conditions;
}

aclError FindCondition(aclmdlRICondHandle handle, std::shared_ptr<Condition>* condition) {
  *condition = Conditions().Find(handle);
  return *condition == nullptr ? Fail(ACL_ERROR_RT_INVALID_HANDLE, "not a live condition") : ACL_SUCCESS;
}

bool RightNumber(const aclmdlRICondTaskParams& parameters) {
  switch (parameters.type) {
    case ACL_MODEL_RI_COND_TYPE_IF:
      return parameters.size == 1 || parameters.size == 2;
    case ACL_MODEL_RI_COND_TYPE_WHILE:
      return parameters.size == 1;
    case ACL_MODEL_RI_COND_TYPE_SWITCH:
      return parameters.size > 0;
  }
  return false;
}

}  // namespace

Condition::Condition(const std::shared_ptr<Graph>& parent, uint64_t defaultValue)
    : parent_(parent), defaultValue_(defaultValue) {}

Condition::~Condition() {
  // Not by aclrtFree: the last to hold a graph may be the stream that has just run it, and that cannot wait.
  const auto block = value_ == nullptr ? std::nullopt : DeviceBlocks().Remove(value_);
  if (block) UnmapPages(value_, block->bytes);
}

aclError Condition::Allocate() {
  void* value = nullptr;
  const aclError error = aclrtMalloc(&value, sizeof(uint64_t), ACL_MEM_MALLOC_NORMAL_ONLY);
  value_ = static_cast<uint64_t*>(value);
  return error;
}

void Condition::Reset() const { *value_ = defaultValue_; }

aclError Condition::Branch(const aclmdlRICondTaskParams& parameters) {
  if (HasBranches()) return Fail(ACL_ERROR_RT_PARAM_INVALID, "the condition already has a task");
  if (parameters.modelRIArray == nullptr || !RightNumber(parameters)) {
    return Fail(ACL_ERROR_RT_PARAM_INVALID,
                "a condition of this type does not have " + std::to_string(parameters.size) + " branches");
  }
  const std::shared_ptr<Graph> parent = Parent();
  type_ = parameters.type;
  for (uint32_t i = 0; i < parameters.size; ++i) {
    branches_.push_back(std::make_shared<Graph>(parent->In()));
    parameters.modelRIArray[i] = AddGraph(branches_.back());
  }
  return ACL_SUCCESS;
}

bool Condition::Capturing() const {
  return std::any_of(branches_.begin(), branches_.end(),
                     [](const auto& branch) { return CaptureInto(*branch) != nullptr; });
}

aclError Condition::Run() const {
  switch (type_) {
    case ACL_MODEL_RI_COND_TYPE_IF:
      if (*value_ != 0) return branches_[0]->Run();
      return branches_.size() == 2 ? branches_[1]->Run() : ACL_SUCCESS;
    case ACL_MODEL_RI_COND_TYPE_WHILE:
      while (*value_ != 0) {
        if (const aclError error = branches_[0]->Run()) return error;
      }
      return ACL_SUCCESS;
    case ACL_MODEL_RI_COND_TYPE_SWITCH:
      return *value_ < branches_.size() ? branches_[*value_]->Run() : ACL_SUCCESS;
  }
  return ACL_SUCCESS;
}

void Condition::Forget() const {
  for (const auto& branch : branches_) RemoveGraph(*branch);
  Conditions().Remove(this);
}

}  // namespace simulator

using namespace simulator;

aclError aclmdlRICondHandleCreate(aclmdlRI handle, uint32_t defaultValue, aclmdlRICondHandleFlag,
                                  aclmdlRICondHandle* condition) {
  return Guarded("aclmdlRICondHandleCreate", [&]() -> aclError {
    std::shared_ptr<Graph> graph;
    if (condition == nullptr) return Fail(ACL_ERROR_INVALID_PARAM, "aclmdlRICondHandleCreate: no result");
    if (const aclError error = FindGraph(handle, &graph)) return error;
    auto created = std::make_shared<Condition>(graph, defaultValue);
    if (const aclError error = created->Allocate()) return error;
    graph->Adopt(created);
    *condition = Conditions().Add(std::move(created));
    return ACL_SUCCESS;
  });
}

aclError aclmdlRICondHandleGetCondPtr(aclmdlRICondHandle handle, uint64_t** value) {
  return Guarded("aclmdlRICondHandleGetCondPtr", [&]() -> aclError {
    std::shared_ptr<Condition> condition;
    if (value == nullptr) return Fail(ACL_ERROR_INVALID_PARAM, "aclmdlRICondHandleGetCondPtr: no result");
    if (const aclError error = FindCondition(handle, &condition)) return error;
    *value = condition->Value();
    return ACL_SUCCESS;
  });
}

aclError aclmdlRIAddCondTask(aclmdlRICondTaskParams parameters, aclrtStream streamHandle, uint32_t) {
  return Guarded("aclmdlRIAddCondTask", [&]() -> aclError {
    std::shared_ptr<Condition> condition;
    std::shared_ptr<Stream> stream;
    if (const aclError error = FindCondition(parameters.handle, &condition)) return error;
    if (const aclError error = FindStream(streamHandle, &stream)) return error;
    const std::shared_ptr<Capture> capture = stream->CapturedBy();
    if (capture == nullptr) {
      return Fail(ACL_ERROR_RT_STREAM_NOT_CAPTURED, "aclmdlRIAddCondTask: the stream captures nothing");
    }
    if (capture->Into() != condition->Parent()) {
      return Fail(ACL_ERROR_RT_PARAM_INVALID, "aclmdlRIAddCondTask: the condition is of another graph");
    }
    if (const aclError error = condition->Branch(parameters)) return error;
    // The graph owns the condition, and through this task alone it would own itself.
    return stream->Append([owned = condition.get()] { return owned->Run(); }, Stream::When::kUnlessFailed,
                          {"CAPTURE_CONDITION"});
  });
}
