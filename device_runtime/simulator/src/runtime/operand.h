#pragma once

#include <cstdint>
#include <vector>

#include "acl/acl_base.h"

namespace simulator {

// A tensor that an operator reads or writes, as profiles and traces show it.
struct Operand {
  aclDataType dtype;
  aclFormat format;
  std::vector<int64_t> dims;
};

struct Operands {
  std::vector<Operand> inputs;
  std::vector<Operand> outputs;
};

// Whether operands are to be described at all: see runtime/activity.h.
ACL_FUNC_VISIBILITY bool SomebodyListens();

}  // namespace simulator
