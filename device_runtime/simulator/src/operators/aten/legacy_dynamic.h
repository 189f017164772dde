#pragma once

#include "legacy.h"

namespace simulator::operators {

// An operator of the older aclop interface whose outputs have shapes that depend on the data. It returns
// them; they are written where the caller has room for the largest there can be.
using DynamicLegacyFunction = std::vector<at::Tensor> (*)(const LegacyCall&);

// Makes `function` known as the operator `type`; for objects of namespace scope.
class DynamicLegacyOperator {
 public:
  DynamicLegacyOperator(const char* type, DynamicLegacyFunction function);
};

}  // namespace simulator::operators
