#pragma once

#include <cstdio>

#include "acl/acl_rt.h"

// CHECK goes on after a failure, so that one run shows all of them; main returns their number.
#define CHECK(condition) ::checks::Record((condition), #condition, __FILE__, __LINE__)
#define CHECK_OK(call) ::checks::RecordCode((call), #call, __FILE__, __LINE__)

namespace checks {

inline int& Failures() {
  static int failures = 0;
  return failures;
}

inline void Record(bool holds, const char* text, const char* file, int line) {
  if (holds) return;
  ++Failures();
  std::printf("%s:%d: does not hold: %s\n", file, line, text);
}

inline void RecordCode(aclError code, const char* text, const char* file, int line) {
  if (code == ACL_SUCCESS) return;
  ++Failures();
  const char* message = aclGetRecentErrMsg();
  std::printf("%s:%d: %s returned %d: %s\n", file, line, text, code, message == nullptr ? "" : message);
}

inline int Result() {
  std::printf(Failures() == 0 ? "all checks hold\n" : "%d checks do not hold\n", Failures());
  return Failures() == 0 ? 0 : 1;
}

}  // namespace checks
