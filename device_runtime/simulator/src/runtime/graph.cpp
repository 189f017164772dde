#include "runtime/graph.h"

#include <algorithm>
#include <atomic>
#include <utility>

#include "runtime/condition.h"
#include "runtime/context.h"
#include "runtime/error.h"
#include "runtime/handles.h"

namespace simulator {
namespace {

std::atomic<uint32_t> nextId{1};

Handles<Graph>& Graphs() {
  static auto* graphs = new Handles<Graph>;
  return *graphs;
}

Handles<TaskGroup>& TaskGroups() {
  static auto* groups = new Handles<TaskGroup>;
  return *groups;
}

}  // namespace

Graph::Graph(std::shared_ptr<Context> context) : context_(std::move(context)), id_(nextId++) {}

Graph::~Graph() {
  for (const auto& group : groups_) TaskGroups().Remove(group.get());
  for (const auto& condition : conditions_) condition->Forget();
}

size_t Graph::Add(Node node) {
  const std::lock_guard<std::mutex> lock(mutex_);
  nodes_.push_back(std::move(node));
  return nodes_.size() - 1;
}

void Graph::Replace(size_t node, Task task) {
  auto replacement = std::make_shared<const Task>(std::move(task));
  const std::lock_guard<std::mutex> lock(mutex_);
  nodes_[node].task.swap(replacement);
}

aclrtTaskGrp Graph::Adopt(std::shared_ptr<TaskGroup> group) {
  const std::lock_guard<std::mutex> lock(mutex_);
  groups_.push_back(group);
  return TaskGroups().Add(std::move(group));
}

void Graph::Adopt(std::shared_ptr<Condition> condition) {
  const std::lock_guard<std::mutex> lock(mutex_);
  conditions_.push_back(std::move(condition));
}

bool Graph::HasCapturingBranch() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return std::any_of(conditions_.begin(), conditions_.end(),
                     [](const auto& condition) { return condition->Capturing(); });
}

// Returns the number of nodes, which is final by then.
size_t Graph::PrepareRun() {
  const std::lock_guard<std::mutex> lock(mutex_);
  for (const auto& condition : conditions_) condition->Reset();
  return nodes_.size();
}

// What is to run for the node now: an update may replace it at any time.
std::shared_ptr<const Task> Graph::TaskOf(size_t node) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return nodes_[node].task;
}

aclError Graph::Run() {
  const std::lock_guard<std::mutex> running(running_);
  const size_t nodes = PrepareRun();
  for (size_t node = 0; node < nodes; ++node) {
    const std::shared_ptr<const Task> task = TaskOf(node);
    if (task == nullptr) continue;
    if (const aclError error = (*task)()) return error;
  }
  return ACL_SUCCESS;
}

std::vector<Graph::Node> Graph::Nodes() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return nodes_;
}

aclmdlRI AddGraph(std::shared_ptr<Graph> graph) { return Graphs().Add(std::move(graph)); }

void RemoveGraph(const Graph& graph) { Graphs().Remove(&graph); }

aclError FindGraph(aclmdlRI handle, std::shared_ptr<Graph>* graph) {
  *graph = Graphs().Find(handle);
  return *graph == nullptr ? Fail(ACL_ERROR_RT_INVALID_HANDLE, "not a live graph") : ACL_SUCCESS;
}

aclError FindTaskGroup(aclrtTaskGrp handle, std::shared_ptr<TaskGroup>* group) {
  *group = TaskGroups().Find(handle);
  return *group == nullptr ? Fail(ACL_ERROR_RT_INVALID_HANDLE, "not a live task group") : ACL_SUCCESS;
}

}  // namespace simulator
