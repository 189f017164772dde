#pragma once

#include <cstddef>
#include <stdexcept>
#include <string>

#include "acl/acl.h"
#include "hccl/hccl.h"

namespace probe {

// A call of AscendCL or HCCL that did not succeed.
class DeviceFailure : public std::runtime_error {
 public:
  DeviceFailure(int code, std::string call, const std::string& message);
  int code() const { return code_; }
  const std::string& call() const { return call_; }

 private:
  int code_;
  std::string call_;
};

// Data came back from a device other than it should be. Positions and values are bytes or elements.
class Mismatch : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Throw DeviceFailure unless the code says success.
void CheckAcl(aclError code, const char* call);
void CheckHccl(HcclResult code, const char* call);

}  // namespace probe
