#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "acl/acl_rt.h"

namespace simulator {

class Graph;

// A value in device memory that tells which of some graphs, the branches, a task of their parent runs.
class Condition {
 public:
  Condition(const std::shared_ptr<Graph>& parent, uint64_t defaultValue);
  ~Condition();
  Condition(const Condition&) = delete;
  Condition& operator=(const Condition&) = delete;

  aclError Allocate();
  uint64_t* Value() const { return value_; }
  std::shared_ptr<Graph> Parent() const { return parent_.lock(); }

  // Before each run of the parent.
  void Reset() const;

  // Makes the branches, once; their handles are returned in `parameters.modelRIArray`.
  aclError Branch(const aclmdlRICondTaskParams& parameters);
  bool HasBranches() const { return !branches_.empty(); }
  bool Capturing() const;

  aclError Run() const;
  void Forget() const;  // the handles of the condition and of its branches

 private:
  const std::weak_ptr<Graph> parent_;
  const uint64_t defaultValue_;
  uint64_t* value_ = nullptr;
  aclmdlRICondTaskType type_ = ACL_MODEL_RI_COND_TYPE_IF;
  std::vector<std::shared_ptr<Graph>> branches_;
};

}  // namespace simulator
