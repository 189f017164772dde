#pragma once

#include <string>
#include <utility>

#include "acl/acl_base.h"

namespace simulator {

// Keeps the message for aclGetRecentErrMsg on this thread (on a stream's worker: for whoever synchronises
// next).
ACL_FUNC_VISIBILITY void Record(aclError code, std::string message);

// Records the error, so that a call ends in `return Fail(code, "...")`.
inline aclError Fail(aclError code, std::string message) {
  Record(code, std::move(message));
  return code;
}

// Whether this is the thread of torch_npu's task queue. After an error there torch_npu drops every later task
// without a word, and hands out what was in memory as if it were a result.
ACL_FUNC_VISIBILITY bool OnTaskQueue();

// Fail for operators: on the task queue the current device fails with it, so that everybody who waits for one
// of its streams, and so for a result, hears of it until the device is reset.
ACL_FUNC_VISIBILITY aclError FailOperator(aclError code, std::string message);

// Refuses what the simulated CANN does not implement, by name.
ACL_FUNC_VISIBILITY aclError Refuse(const std::string& name);

}  // namespace simulator
