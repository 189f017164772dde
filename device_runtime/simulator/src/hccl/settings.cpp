#include "settings.h"

#include <cmath>
#include <cstdlib>
#include <optional>
#include <string>

#include "failure.h"
#include "reports.h"

namespace simulator::hccl {
namespace {

constexpr double kLongestExecution = 2147483647;
constexpr double kLongestExecutionOfOldChips = 17340;
constexpr double kStepOfOldChips = 68;
constexpr double kLongestHere = 31536000;  // a year; more does not fit a clock's arithmetic

const char* Variable(const char* name) {
  const char* text = std::getenv(name);
  return text == nullptr || *text == '\0' ? nullptr : text;
}

std::optional<double> Number(const char* text) {
  char* end = nullptr;
  const double number = std::strtod(text, &end);
  if (end == text || *end != '\0' || !std::isfinite(number)) return std::nullopt;
  return number;
}

Duration DurationOf(double seconds) {
  return std::chrono::duration_cast<Duration>(std::chrono::duration<double>(std::min(seconds, kLongestHere)));
}

Duration SecondsOf(const char* variable, double fallback, double lowest, double highest,
                   const std::string& expected) {
  const char* text = Variable(variable);
  if (text == nullptr) return DurationOf(fallback);
  const double seconds = Number(text).value_or(-1);
  Require(seconds >= lowest && seconds <= highest, HCCL_E_PARA, InvalidEnvironment(text, variable, expected));
  return DurationOf(seconds);
}

Duration OwnSecondsOf(const char* variable, Duration fallback) {
  constexpr double kShortest = 0.001;
  return SecondsOf(variable, static_cast<double>(fallback.count()) / 1000, kShortest, kLongestHere,
                   "a positive number of seconds");
}

bool IsOld(Chip chip) { return chip == Chip::k910 || chip == Chip::k310P; }

}  // namespace

Duration ConnectTimeout() {
  const Duration chosen = SecondsOf("HCCL_CONNECT_TIMEOUT", 120, 120, 7200,
                                    "a number greater than or equal to 120s and less than or equal to 7200s");
  return OwnSecondsOf("ASCENDENV_SIM_HCCL_CONNECT_TIMEOUT", chosen);
}

Duration ExecutionTimeout() {
  constexpr double kDefault = 1836;
  if (!IsOld(TheChip())) {
    return SecondsOf("HCCL_EXEC_TIMEOUT", kDefault, 0, kLongestExecution,
                     "a number greater than or equal to 0s and less than or equal to 2147483647s");
  }
  constexpr double kShortest = 0.001;
  const Duration chosen = SecondsOf("HCCL_EXEC_TIMEOUT", kDefault, kShortest, kLongestExecutionOfOldChips,
                                    "a number greater than or equal to 1s and less than or equal to 17340s");
  const double steps = std::floor(std::chrono::duration<double>(chosen).count() / kStepOfOldChips);
  return DurationOf(std::max(steps, 1.0) * kStepOfOldChips);
}

Duration HeartbeatTimeout() { return OwnSecondsOf("ASCENDENV_SIM_HCCL_HEARTBEAT", std::chrono::seconds(30)); }

bool AcceptsExecutionTimeout(Chip chip, double seconds) {
  return IsOld(chip) ? seconds >= 1 && seconds <= kLongestExecutionOfOldChips
                     : seconds >= 0 && seconds <= kLongestExecution;
}

}  // namespace simulator::hccl
