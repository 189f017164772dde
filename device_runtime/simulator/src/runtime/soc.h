#pragma once

#include <string>

#include "acl/acl_base.h"

namespace simulator {

// What the cores of a chip can do with numbers.
struct SocTraits {
  bool infNan;  // overflows are infinities and NaNs; without it they are the largest number
  bool bfloat16;
};

ACL_FUNC_VISIBILITY SocTraits TraitsOf(const std::string& soc);

}  // namespace simulator
