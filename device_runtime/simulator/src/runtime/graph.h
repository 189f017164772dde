#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "acl/acl_rt.h"
#include "runtime/task.h"

namespace simulator {

class Condition;
struct Context;

class Graph;

// Kernels of a graph whose arguments may be replaced.
struct TaskGroup {
  std::weak_ptr<Graph> graph;
  std::vector<size_t> nodes;
};

// What streams captured. It runs its tasks one after the other in the order of their capture, which is one of
// the orders that the events between the streams allow.
class Graph {
 public:
  struct Node {
    std::string name;
    std::string type;
    int32_t stream;                    // that it was captured from
    std::shared_ptr<const Task> task;  // none for events: the order of the nodes says what they say
  };

  explicit Graph(std::shared_ptr<Context> context);
  ~Graph();
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;

  uint32_t Id() const { return id_; }
  const std::shared_ptr<Context>& In() const { return context_; }

  size_t Add(Node node);
  void Replace(size_t node, Task task);
  aclrtTaskGrp Adopt(std::shared_ptr<TaskGroup> group);
  void Adopt(std::shared_ptr<Condition> condition);

  bool HasCapturingBranch() const;
  aclError Run();
  std::vector<Node> Nodes() const;

 private:
  size_t PrepareRun();
  std::shared_ptr<const Task> TaskOf(size_t node) const;

  const std::shared_ptr<Context> context_;
  const uint32_t id_;
  mutable std::mutex mutex_;
  std::mutex running_;  // one run at a time: they would share the memory the graph computes in
  std::vector<Node> nodes_;
  std::vector<std::shared_ptr<TaskGroup>> groups_;
  std::vector<std::shared_ptr<Condition>> conditions_;
};

// The live graphs, by handle. A child, the branch of a condition, belongs to its parent.
aclmdlRI AddGraph(std::shared_ptr<Graph> graph);
void RemoveGraph(const Graph& graph);
aclError FindGraph(aclmdlRI handle, std::shared_ptr<Graph>* graph);

// The live task groups, by handle: they live as long as their graph.
aclError FindTaskGroup(aclrtTaskGrp handle, std::shared_ptr<TaskGroup>* group);

}  // namespace simulator
