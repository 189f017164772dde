#include <cstdarg>
#include <cstdio>
#include <cstdlib>

#include "acl/acl_base.h"

namespace {

// As in CANN: 0 debug, 1 info, 2 warning, 3 error, 4 nothing; printed only when ASCEND_SLOG_PRINT_TO_STDOUT
// is 1.
bool Wanted(aclLogLevel level) {
  static const char* toStdout = std::getenv("ASCEND_SLOG_PRINT_TO_STDOUT");
  static const char* lowest = std::getenv("ASCEND_GLOBAL_LOG_LEVEL");
  if (toStdout == nullptr || std::atoi(toStdout) != 1) return false;
  return static_cast<int>(level) >= (lowest == nullptr ? ACL_ERROR : std::atoi(lowest));
}

}  // namespace

void aclAppLog(aclLogLevel level, const char* function, const char* file, uint32_t line, const char* format,
               ...) {
  if (!Wanted(level)) return;
  static constexpr const char* kNames[] = {"DEBUG", "INFO", "WARNING", "ERROR"};
  std::printf("[simulated CANN] [%s] %s:%u %s: ", kNames[level], file, line, function);
  va_list arguments;
  va_start(arguments, format);
  std::vprintf(format, arguments);
  va_end(arguments);
  std::printf("\n");
}
