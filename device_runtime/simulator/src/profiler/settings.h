#pragma once

#include <cstdint>
#include <vector>

#include "acl/acl_prof.h"

namespace simulator::profiler {

// What is to be profiled, as aclprofCreateConfig was told.
struct Settings {
  std::vector<int32_t> devices;  // physical
  uint64_t data = 0;             // ACL_PROF_*

  bool Wants(uint64_t any) const { return (data & any) != 0; }
};

}  // namespace simulator::profiler

struct aclprofConfig {
  simulator::profiler::Settings settings;
};
