#pragma once

#include <functional>
#include <string_view>

#include "acl/acl_base.h"

namespace simulator {

// What a stream runs. It returns an error when it fails, and does not throw.
using Task = std::function<aclError()>;

constexpr std::string_view kKernel = "KERNEL_AIVEC";

// What a task is called in a graph that it is captured into.
struct TaskLabel {
  std::string_view type = "TASK";
  std::string_view name = type;

  // The work of an operator, which a task group may change later.
  bool IsKernel() const { return type == kKernel; }
};

}  // namespace simulator
