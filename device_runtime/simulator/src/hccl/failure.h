#pragma once

#include <stdexcept>
#include <string>

#include "hccl/hccl.h"

namespace simulator::hccl {

// Thrown inside the library; turned into a code and a message at its C boundary.
class Failure : public std::runtime_error {
 public:
  Failure(HcclResult code, const std::string& message) : std::runtime_error(message), code_(code) {}
  HcclResult code() const { return code_; }

 private:
  HcclResult code_;
};

[[noreturn]] inline void Throw(HcclResult code, const std::string& message) { throw Failure(code, message); }

inline void Require(bool holds, HcclResult code, const std::string& message) {
  if (!holds) Throw(code, message);
}

}  // namespace simulator::hccl
