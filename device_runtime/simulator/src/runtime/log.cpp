#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "acl/acl_base.h"

namespace {

// As in CANN: 0 debug, 1 info, 2 warning, 3 error, 4 nothing; printed only when ASCEND_SLOG_PRINT_TO_STDOUT
// is 1.
bool Wanted(aclLogLevel level) {
  static const char* toStdout = std::getenv("ASCEND_SLOG_PRINT_TO_STDOUT");
  static const char* lowest = std::getenv("ASCEND_GLOBAL_LOG_LEVEL");
  if (toStdout == nullptr || std::string_view(toStdout) != "1") return false;
  const long threshold = lowest == nullptr ? long{ACL_ERROR} : std::strtol(lowest, nullptr, 10);
  return static_cast<long>(level) >= threshold;
}

const char* Name(aclLogLevel level) {
  switch (level) {
    case ACL_DEBUG:
      return "DEBUG";
    case ACL_INFO:
      return "INFO";
    case ACL_WARNING:
      return "WARNING";
    case ACL_ERROR:
      return "ERROR";
  }
  return "UNKNOWN";
}

}  // namespace

void aclAppLog(aclLogLevel level, const char* function, const char* file, uint32_t line, const char* format,
               ...) {
  if (!Wanted(level)) return;
  std::printf("[simulated CANN] [%s] %s:%u %s: ", Name(level), file, line, function);
  va_list arguments;
  va_start(arguments, format);
  std::vprintf(format, arguments);
  va_end(arguments);
  std::printf("\n");
}
