#pragma once

#include <cstdint>
#include <string>

namespace simulator::profiler {

// A mark or range that a program set. Times are nanoseconds of CLOCK_MONOTONIC_RAW.
struct Annotation {
  std::string domain;
  std::string message;
  int32_t thread = 0;
  uint64_t began = 0;
  uint64_t ended = 0;  // of a mark: when it began

  // When the stream it was set on got there.
  int32_t device = -1;  // physical; -1: set on no stream
  int32_t stream = -1;
  uint64_t reached = 0;
  uint64_t left = 0;
};

}  // namespace simulator::profiler
