#pragma once

#include <string>

#include "acl/acl_base.h"

namespace simulator {

// Records the message for aclGetRecentErrMsg on this thread (on a stream's worker: for whoever synchronises
// next) and returns the code, so that a call ends in `return Fail(code, "...")`.
ACL_FUNC_VISIBILITY aclError Fail(aclError code, std::string message);

// The same for a failure that the caller cannot answer for: the current device has failed, and everybody who
// waits for one of its streams hears of it until it is reset.
ACL_FUNC_VISIBILITY aclError FailDevice(aclError code, std::string message);

// Refuses what the simulated CANN does not implement, by name.
ACL_FUNC_VISIBILITY aclError Refuse(const std::string& name);

}  // namespace simulator
