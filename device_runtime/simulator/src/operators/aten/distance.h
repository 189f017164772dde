#pragma once

#include <limits>

namespace simulator::operators {

// The order of a norm as torch means it: callers write the maximum norm as -1.
inline double NormOrder(float given) {
  return given < 0 ? std::numeric_limits<double>::infinity() : static_cast<double>(given);
}

}  // namespace simulator::operators
