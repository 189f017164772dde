#include "runtime/configuration.h"

#include <cerrno>
#include <cstdlib>
#include <limits>

#include "build_values.h"
#include "runtime/faults.h"

namespace simulator {
namespace {

std::string FromEnvironment(const char* name, const char* fallback) {
  const char* value = std::getenv(name);
  return value == nullptr || *value == '\0' ? fallback : value;
}

std::optional<uint32_t> ParseCount(const std::string& text) {
  char* end = nullptr;
  const unsigned long count = std::strtoul(text.c_str(), &end, 10);
  if (text.empty() || *end != '\0' || text[0] == '-' || count > kMostDevices) return std::nullopt;
  return static_cast<uint32_t>(count);
}

std::optional<unsigned> ShiftOf(const std::string& unit) {
  if (unit.empty()) return 0;
  if (unit == "KiB") return 10;
  if (unit == "MiB") return 20;
  if (unit == "GiB") return 30;
  return std::nullopt;
}

Configuration Read() {
  Configuration configuration;
  configuration.cannVersion = SIMULATOR_CANN_VERSION;
  configuration.soc = FromEnvironment("ASCENDENV_SIM_SOC", SIMULATOR_SOC);
  configuration.cubeCores = SIMULATOR_CUBE_CORES;
  configuration.vectorCores = SIMULATOR_VECTOR_CORES;
  configuration.cacheBytes = static_cast<int64_t>(ParseBytes(SIMULATOR_CACHE).value_or(0));

  const std::string devices = FromEnvironment("ASCENDENV_SIM_DEVICES", SIMULATOR_DEVICES);
  if (const auto count = ParseCount(devices)) {
    configuration.devices = *count;
  } else {
    configuration.problem =
        "ASCENDENV_SIM_DEVICES=" + devices + " is not a number from 0 to " + std::to_string(kMostDevices);
  }
  const std::string memory = FromEnvironment("ASCENDENV_SIM_MEMORY", SIMULATOR_MEMORY);
  if (const auto bytes = ParseBytes(memory)) {
    configuration.memory = *bytes;
  } else {
    configuration.problem = "ASCENDENV_SIM_MEMORY=" + memory + " is not a size such as 8GiB or 512MiB";
  }
  if (configuration.problem.empty()) configuration.problem = FaultProblem();
  return configuration;
}

}  // namespace

std::optional<size_t> ParseBytes(const std::string& text) {
  char* end = nullptr;
  errno = 0;
  const unsigned long long number = std::strtoull(text.c_str(), &end, 10);
  if (text.empty() || text[0] < '0' || text[0] > '9' || number == 0 || errno != 0) return std::nullopt;
  const std::string unit = end;
  const auto shift = ShiftOf(unit);
  // The interface reports sizes as signed numbers.
  const uint64_t largest = std::numeric_limits<int64_t>::max();
  if (!shift || number > largest >> *shift) return std::nullopt;
  return static_cast<size_t>(number) << *shift;
}

const Configuration& TheConfiguration() {
  static const auto* configuration = new Configuration(Read());
  return *configuration;
}

}  // namespace simulator
