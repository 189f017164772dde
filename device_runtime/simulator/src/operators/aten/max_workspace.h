#pragma once

#include "binding.h"

// Also exports aclnn<name>GetMaxWorkspaceSize for an operator that was made known above. Callers ask it
// before a graph records an operator whose inputs it will replace; where nothing needs a workspace it is
// GetWorkspaceSize.
#define ACLNN_MAX_WORKSPACE(name)                                                                       \
  namespace simulator::operators::aclnn##name##Operator {                                               \
    extern "C"                                                                                          \
        __attribute__((visibility("default"),                                                           \
                       ifunc("resolve_aclnn" #name                                                      \
                             "_1"))) decltype(Self::GetWorkspaceSize) aclnn##name##GetMaxWorkspaceSize; \
  }                                                                                                     \
  static_assert(true)
