#include "runtime/error.h"

#include <utility>

#include "acl/acl_rt.h"
#include "runtime/boundary.h"
#include "runtime/failure.h"

namespace simulator {
namespace {

struct Recent {
  aclError code = ACL_SUCCESS;
  std::string message;
  std::string handedOut;  // keeps the text of the last aclGetRecentErrMsg alive
};

Recent& ThisThread() {
  thread_local Recent recent;
  return recent;
}

}  // namespace

Failure MakeFailure(aclError code, const std::string& message) {
  return {code, "[simulated CANN] " + message};
}

// NOLINTNEXTLINE(performance-unnecessary-value-param): callers hand over what they built
void Record(aclError code, std::string message) { Report(MakeFailure(code, message)); }

// Not ACL_ERROR_RT_FEATURE_NOT_SUPPORT: torch_npu passes over that one with a warning and goes on as if all
// was well.
aclError Refuse(const std::string& name) {
  return Fail(ACL_ERROR_FEATURE_UNSUPPORTED, name + " is not implemented by the simulated CANN");
}

std::optional<Failure> FailureOf(aclError code) {
  if (code == ACL_SUCCESS) return std::nullopt;
  return Failure{code, std::exchange(ThisThread().message, {})};
}

aclError Report(const Failure& failure) {
  ThisThread().code = failure.code;
  ThisThread().message = failure.message;
  return failure.code;
}

aclError Caught(const char* call, aclError code, const char* what) noexcept {
  try {
    Record(code, std::string(call) + ": " + what);
  } catch (const std::exception&) {  // no memory for the message either
    ThisThread().code = code;
  }
  return code;
}

}  // namespace simulator

using simulator::ThisThread;

const char* aclGetRecentErrMsg() {
  simulator::Recent& recent = ThisThread();
  if (recent.message.empty()) return nullptr;
  recent.handedOut = std::exchange(recent.message, {});
  return recent.handedOut.c_str();
}

aclError aclrtPeekAtLastError(aclrtLastErrLevel) { return ThisThread().code; }

aclError aclrtGetLastError(aclrtLastErrLevel) { return std::exchange(ThisThread().code, ACL_SUCCESS); }
