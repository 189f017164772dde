#pragma once

#include <functional>

#include "acl/acl_base.h"

namespace simulator {

// Appends a task to a stream; nullptr is the default stream of the current device. Tasks run in order on the
// stream's own thread, asynchronously to the caller. A task that returns an error fails the stream: later
// tasks are skipped and the next synchronise reports the error. A task must not throw.
ACL_FUNC_VISIBILITY aclError Enqueue(aclrtStream stream, std::function<aclError()> task);

// The same for the kernels of operators: what breaks a device in the middle of its work strikes there.
ACL_FUNC_VISIBILITY aclError EnqueueKernel(aclrtStream stream, std::function<aclError()> kernel,
                                           const char* name = "KERNEL");

// Waits until everything queued so far has run; reports the failure of the stream, if any.
ACL_FUNC_VISIBILITY aclError Synchronize(aclrtStream stream);

}  // namespace simulator
