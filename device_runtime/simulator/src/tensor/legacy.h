#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "acl/acl_op.h"

// The handles of the older aclop interface. Its operators are all refused, so attributes are accepted unread.

struct aclDataBuffer {
  void* data;
  size_t bytes;
};

struct aclTensorDesc {
  aclDataType dtype;
  aclFormat format;
  std::vector<int64_t> dims;
  std::string name;
};

struct aclopAttr {};
