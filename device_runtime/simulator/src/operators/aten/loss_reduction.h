#pragma once

#include <ATen/core/Reduction.h>

#include "arguments.h"

namespace simulator::operators {

// How the losses of the elements become one: counted as in ATen.
inline void CheckKnown(int64_t reduction) {
  TORCH_CHECK_VALUE(reduction >= 0 && reduction < at::Reduction::END, "the reduction ", reduction,
                    " is neither 0 (none), 1 (mean) nor 2 (sum)");
}

}  // namespace simulator::operators
