#include "settings.h"

#include <cerrno>
#include <cstdlib>
#include <string>

#include "failure.h"

namespace simulator::hccl {
namespace {

Seconds SecondsFromEnvironment(const char* variable, long fallback, long lowest) {
  constexpr long kHighest = 2147483647;
  const char* text = std::getenv(variable);
  if (text == nullptr || *text == '\0') return Seconds(fallback);
  char* end = nullptr;
  errno = 0;
  const long value = std::strtol(text, &end, 10);
  Require(errno == 0 && *end == '\0' && value >= lowest && value <= kHighest, HCCL_E_PARA,
          std::string("EI0001: value ") + text + " for environment variable " + variable +
              " is invalid, expected whole seconds in [" + std::to_string(lowest) + ", " +
              std::to_string(kHighest) + "]");
  return Seconds(value);
}

}  // namespace

Seconds ConnectTimeout() { return SecondsFromEnvironment("HCCL_CONNECT_TIMEOUT", 120, 1); }

Seconds ExecutionTimeout() { return SecondsFromEnvironment("HCCL_EXEC_TIMEOUT", 1836, 0); }

}  // namespace simulator::hccl
