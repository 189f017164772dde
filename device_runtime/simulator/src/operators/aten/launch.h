#pragma once

#include <functional>

#include "acl/acl_base.h"
#include "tensor/descriptors.h"

namespace simulator::operators {

// Phase 1 around `hold`: what it throws becomes a refusal that names the operator.
aclnnStatus Prepare(const char* name, const std::function<void()>& hold);

// The run on the stream's worker around `body`: what it throws becomes a device fault that names the
// operator.
aclError Run(const char* name, const std::function<void()>& body);

// Phase 2, which consumes the executor.
aclnnStatus Launch(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor, aclrtStream stream);

// Phase 2 of an operator whose output shapes depend on the data: returns after the run.
aclnnStatus LaunchAndWait(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                          aclrtStream stream);

}  // namespace simulator::operators
