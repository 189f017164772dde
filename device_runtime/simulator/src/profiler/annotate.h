#pragma once

#include <cstdint>
#include <string>

#include "acl/acl_base.h"

// Marks and ranges that a program sets, on the host alone or on a stream as well. They are recorded while the
// profiler runs and was asked for them (ACL_PROF_MSPROFTX); otherwise they cost nothing and leave nothing.
namespace simulator::profiler {

ACL_FUNC_VISIBILITY void Mark(const std::string& domain, const std::string& message, aclrtStream stream);

// 0 when it is not recorded.
ACL_FUNC_VISIBILITY uint64_t StartRange(const std::string& domain, const std::string& message,
                                        aclrtStream stream);
ACL_FUNC_VISIBILITY void EndRange(uint64_t id);

}  // namespace simulator::profiler
