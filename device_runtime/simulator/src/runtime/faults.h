#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "acl/acl_base.h"
#include "runtime/failure.h"

namespace simulator {

// What goes wrong on request: ASCENDENV_SIM_FAULT=<name>[@<physical device>][:<after>], several separated by
// commas, read once by each process. The names are those of the README.
enum class Fault {
  kNoDevice,
  kDriverMissing,
  kDeviceBusy,
  kPermissionDenied,
  kOutOfMemory,
  kEccError,
  kDeviceLost,
  kLinkDown,
  kVersionMismatch,
};

constexpr int32_t kEveryDevice = -1;

// Whether the fault is asked for on this physical device; on kEveryDevice: whether it is asked for on all.
ACL_FUNC_VISIBILITY bool HasFault(Fault fault, int32_t physicalDevice);

// Counts one more operator, collective or allocation of the device. Once `<after>` of them have passed, every
// one ends in the failure a program would see.
ACL_FUNC_VISIBILITY std::optional<Failure> FaultOf(Fault fault, int32_t physicalDevice);

// The failure itself, whether asked for or not.
ACL_FUNC_VISIBILITY Failure FailureBy(Fault fault, int32_t physicalDevice);

struct FaultRequest {
  Fault fault;
  int32_t device = kEveryDevice;
  uint64_t after = 0;
};

struct FaultRequests {
  std::vector<FaultRequest> requests;
  std::string problem;  // what is wrong with the text; empty when all is well
};

ACL_FUNC_VISIBILITY FaultRequests ParseFaults(const std::string& text);

// What is wrong with ASCENDENV_SIM_FAULT of this process; empty when all is well.
ACL_FUNC_VISIBILITY const std::string& FaultProblem();

}  // namespace simulator
