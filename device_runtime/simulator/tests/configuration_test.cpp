#include <cstdlib>
#include <string>

#include "check.h"

// A wrong override is an error with its name in it, not a silent default.

int main() {
  setenv("ASCENDENV_SIM_MEMORY", "a lot", 1);
  uint32_t count = 7;
  CHECK(aclrtGetDeviceCount(&count) == ACL_ERROR_RT_INVALID_DEVICEID);
  CHECK(count == 0);
  const char* message = aclGetRecentErrMsg();
  CHECK(message != nullptr && std::string(message).find("ASCENDENV_SIM_MEMORY=a lot") != std::string::npos);
  CHECK(aclGetRecentErrMsg() == nullptr);
  CHECK(aclInit(nullptr) == ACL_ERROR_INVALID_PARAM);
  CHECK(aclrtSetDevice(0) == ACL_ERROR_RT_INVALID_DEVICEID);
  return checks::Result();
}
