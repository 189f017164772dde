#pragma once

#include <string>

#include "runtime/activity.h"

namespace simulator {

// The text as a JSON string, its quotes included.
ACL_FUNC_VISIBILITY std::string Quoted(const std::string& text);

// The run as one line of JSON, its end of line included: the form in which traces and profiles are written.
ACL_FUNC_VISIBILITY std::string JsonLine(const ActivityRun& run);

}  // namespace simulator
