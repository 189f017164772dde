#pragma once

#include <atomic>
#include <memory>

#include "acl/acl_rt.h"
#include "runtime/handles.h"
#include "runtime/physical.h"

namespace simulator {

// What an aclrtDrvMemHandle stands for.
struct PhysicalHandle {
  std::shared_ptr<Physical> physical;
  aclrtPhysicalMemProp properties{};
  std::atomic<int> references{1};  // to be freed as often
  std::atomic<bool> exported{false};
};

Handles<PhysicalHandle>& PhysicalHandles();

aclError FindPhysical(const char* call, aclrtDrvMemHandle handle, std::shared_ptr<PhysicalHandle>* found);

}  // namespace simulator
