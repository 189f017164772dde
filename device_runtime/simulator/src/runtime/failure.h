#pragma once

#include <optional>
#include <string>

#include "acl/acl_base.h"

namespace simulator {

// An error on its way from the thread where it happened to the threads that are to hear of it.
struct Failure {
  aclError code;
  std::string message;
};

// The failure a task of this thread has just returned, with the message it recorded; nothing for success.
std::optional<Failure> FailureOf(aclError code);

// A failure whose message says, as all do, that it is simulated.
ACL_FUNC_VISIBILITY Failure MakeFailure(aclError code, const std::string& message);

// Makes the failure this thread's own and returns its code.
ACL_FUNC_VISIBILITY aclError Report(const Failure& failure);

}  // namespace simulator
