#pragma once

#include <algorithm>
#include <initializer_list>

#include "arguments.h"

// What phase 1 refuses because of a dtype.
namespace simulator::operators {

inline void CheckDtype(const char* what, Tensor tensor, std::initializer_list<at::ScalarType> known) {
  const bool found = std::find(known.begin(), known.end(), tensor.scalar_type()) != known.end();
  TORCH_CHECK_TYPE(found, what, " of ", tensor.scalar_type(), " is not taken");
}

inline void CheckHalf(const char* what, Tensor tensor) {
  CheckDtype(what, tensor, {at::kHalf, at::kBFloat16});
}

inline void CheckFloat(const char* what, Tensor tensor) {
  CheckDtype(what, tensor, {at::kFloat, at::kHalf, at::kBFloat16});
}

inline void CheckSameDtype(const char* what, Tensor tensor, Tensor other) {
  TORCH_CHECK_TYPE(tensor.scalar_type() == other.scalar_type(), what, " of ", tensor.scalar_type(),
                   " does not fit ", other.scalar_type());
}

// Experts, rows, groups.
inline void CheckIndex(const char* what, Tensor tensor) { CheckDtype(what, tensor, {at::kInt, at::kLong}); }

}  // namespace simulator::operators
