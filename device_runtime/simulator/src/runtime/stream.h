#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "acl/acl_base.h"

namespace simulator {

// Appends a task to a stream; nullptr is the default stream of the current device. Tasks run in order on the
// stream's own thread, asynchronously to the caller. A task that returns an error fails the stream: later
// tasks are skipped and the next synchronise reports the error. A task must not throw.
ACL_FUNC_VISIBILITY aclError Enqueue(aclrtStream stream, std::function<aclError()> task);

// The same for the kernels of operators: what breaks a device in the middle of its work strikes there. The
// name is for who looks at a graph that the kernel was captured into.
ACL_FUNC_VISIBILITY aclError EnqueueKernel(aclrtStream stream, std::function<aclError()> kernel,
                                           std::string_view name = "KERNEL");

// FailOperator for an operator whose stream is known. On the thread of torch_npu's task queue it is the
// stream that fails and not the call: after a failed call torch_npu drops all that follows and waits for ever
// for the events in it, while of a failed stream everybody hears who waits for it.
ACL_FUNC_VISIBILITY aclError FailOnStream(aclrtStream stream, aclError code, const std::string& message);

// Waits until everything queued so far has run; reports the failure of the stream, if any.
ACL_FUNC_VISIBILITY aclError Synchronize(aclrtStream stream);

}  // namespace simulator
