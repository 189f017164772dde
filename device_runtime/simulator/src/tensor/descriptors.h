#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "aclnn/acl_meta.h"
#include "runtime/operand.h"

// The opaque handles of the aclnn interface. The caller may destroy them as soon as phase 2 has returned,
// so whatever runs later owns copies. `data` is device memory and belongs to the caller.

struct aclTensor {
  aclDataType dtype = ACL_DT_UNDEFINED;
  aclFormat format = ACL_FORMAT_ND;
  std::vector<int64_t> viewDims;
  std::vector<int64_t> strides;  // in elements
  int64_t offset = 0;            // in elements
  std::vector<int64_t> storageDims;
  void* data = nullptr;
};

struct aclScalar {
  aclDataType dtype = ACL_DT_UNDEFINED;
  alignas(16) std::array<std::byte, 16> value{};  // the widest type is complex128
};

struct aclIntArray {
  std::vector<int64_t> values;
};

struct aclFloatArray {
  std::vector<float> values;
};

struct aclBoolArray {
  std::vector<uint8_t> values;
};

// Lists own their members: destroying a list destroys the tensors it was made of.
struct aclTensorList {
  std::vector<const aclTensor*> tensors;
};

struct aclScalarList {
  std::vector<const aclScalar*> scalars;
};

// What phase 1 leaves for phase 2. `launch` is run on the worker of the stream and must not throw.
struct aclOpExecutor {
  std::string name;
  std::function<aclError()> launch;
  simulator::Operands operands{};  // left empty when nobody listens
};
