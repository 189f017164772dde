#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "acl/acl_base.h"

namespace simulator {

constexpr uint32_t kMostDevices = 64;

// The file of the installed tree that says what is simulated; it is also what marks the tree as simulated.
constexpr char kRecord[] = "share/info/simulator/version.info";

// What is simulated: the values of the tree, some of them overridable by an environment variable. Read once.
struct Configuration {
  std::string cannVersion;
  std::string driverVersion;  // of the driver that goes with that CANN; empty when none is known
  std::string soc;            // ASCENDENV_SIM_SOC
  uint32_t devices = 0;       // ASCENDENV_SIM_DEVICES
  size_t memory = 0;          // ASCENDENV_SIM_MEMORY, bytes of each device
  int64_t cubeCores = 0;      // of each device
  int64_t vectorCores = 0;    // of each device
  int64_t cacheBytes = 0;     // L2 of each device
  std::string problem;        // what is wrong with a value; empty when all is well
};

ACL_FUNC_VISIBILITY const Configuration& TheConfiguration();

// "8GiB", "512MiB", "1024KiB" or plain bytes; nothing when it is none of these or zero.
ACL_FUNC_VISIBILITY std::optional<size_t> ParseBytes(const std::string& text);

}  // namespace simulator
