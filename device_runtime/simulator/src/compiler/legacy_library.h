#pragma once

#include "acl/acl_op.h"

// What libacl_op_compiler asks of the library of operators, which it opens when it first needs it: unlike the
// rest of the simulated CANN, that one is tied to a PyTorch and may be missing.

struct LegacyArguments {
  int inputs;
  const aclTensorDesc* const* inputDescs;
  const aclDataBuffer* const* inputBuffers;
  int outputs;
  const aclTensorDesc* const* outputDescs;
  aclDataBuffer* const* outputBuffers;
  const aclopAttr* attributes;
  // The same as outputDescs, of a caller who waits for shapes that depend on the data; else nullptr.
  aclTensorDesc* const* shapedDescs;
};

struct LegacyResult {
  bool known;  // whether there is an operator of that type
  aclError status;
};

using LegacyLibraryFunction = LegacyResult(const char* type, const LegacyArguments& arguments,
                                           aclrtStream stream);

constexpr const char* kLegacyLibraryFunction = "aclopRunOnTorch";
