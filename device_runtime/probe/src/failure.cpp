#include "failure.h"

#include <utility>

namespace probe {
namespace {

std::string RecentMessage() {
  const char* message = aclGetRecentErrMsg();
  return message == nullptr || *message == '\0' ? "no further message" : message;
}

}  // namespace

DeviceFailure::DeviceFailure(int code, std::string call, const std::string& message)
    : std::runtime_error(message), code_(code), call_(std::move(call)) {}

void CheckAcl(aclError code, const char* call) {
  if (code != ACL_SUCCESS) throw DeviceFailure(code, call, RecentMessage());
}

void CheckHccl(HcclResult code, const char* call) {
  if (code != HCCL_SUCCESS) throw DeviceFailure(code, call, RecentMessage());
}

}  // namespace probe
