#include "runtime/configuration.h"

#include <cerrno>
#include <cstdlib>
#include <limits>
#include <map>

#include "runtime/faults.h"
#include "runtime/tree.h"

namespace simulator {
namespace {

constexpr uint32_t kMostCores = 1024;

std::optional<uint32_t> ParseCount(const std::string& text, uint32_t most) {
  char* end = nullptr;
  const unsigned long count = std::strtoul(text.c_str(), &end, 10);
  if (text.empty() || *end != '\0' || text[0] == '-' || count > most) return std::nullopt;
  return static_cast<uint32_t>(count);
}

std::optional<unsigned> ShiftOf(const std::string& unit) {
  if (unit.empty()) return 0;
  if (unit == "KiB") return 10;
  if (unit == "MiB") return 20;
  if (unit == "GiB") return 30;
  return std::nullopt;
}

// Where a value stands, for what is said when it is wrong, and its text.
struct Value {
  std::string where;
  std::string text;
};

// Reads the values one by one and keeps the first thing that is wrong.
class Reader {
 public:
  Configuration Read() {
    configuration_.cannVersion = Find("Version").text;
    configuration_.driverVersion = Find("driver").text;
    configuration_.soc = Find("soc", "ASCENDENV_SIM_SOC").text;
    configuration_.devices = Count(Find("devices", "ASCENDENV_SIM_DEVICES"), kMostDevices);
    configuration_.memory = Bytes(Find("memory", "ASCENDENV_SIM_MEMORY"));
    configuration_.cubeCores = Count(Find("cube_cores"), kMostCores);
    configuration_.vectorCores = Count(Find("vector_cores"), kMostCores);
    configuration_.cacheBytes = static_cast<int64_t>(Bytes(Find("l2_cache")));
    if (configuration_.problem.empty()) configuration_.problem = FaultProblem();
    return configuration_;
  }

 private:
  Value Find(const std::string& key, const char* variable = nullptr) {
    const char* value = variable == nullptr ? nullptr : std::getenv(variable);
    if (value != nullptr && *value != '\0') return {variable, value};
    const std::string path = TreeHome() + "/" + kRecord;
    const auto entry = record_.find(key);
    if (entry != record_.end()) return {path + ": " + key, entry->second};
    Wrong("this simulated CANN is not whole: " + path + " is missing or has no " + key);
    return {};
  }

  uint32_t Count(const Value& value, uint32_t most) {
    const auto count = ParseCount(value.text, most);
    if (!count) Wrong(value.where + "=" + value.text + " is not a number from 0 to " + std::to_string(most));
    return count.value_or(0);
  }

  size_t Bytes(const Value& value) {
    const auto bytes = ParseBytes(value.text);
    if (!bytes) Wrong(value.where + "=" + value.text + " is not a size such as 8GiB or 512MiB");
    return bytes.value_or(0);
  }

  void Wrong(std::string problem) {
    if (configuration_.problem.empty()) configuration_.problem = std::move(problem);
  }

  const std::map<std::string, std::string> record_ = ReadTreeFile(kRecord);
  Configuration configuration_;
};

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
  static const auto* configuration = new Configuration(Reader().Read());
  return *configuration;
}

}  // namespace simulator
