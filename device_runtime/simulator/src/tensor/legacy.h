#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <variant>
#include <vector>

#include "acl/acl_op.h"

// The handles of the older aclop interface.

namespace simulator {

using LegacyAttribute =
    std::variant<bool, int64_t, float, std::string, aclDataType, std::vector<uint8_t>, std::vector<int64_t>,
                 std::vector<float>, std::vector<std::vector<int64_t>>>;

}  // namespace simulator

struct aclDataBuffer {
  void* data;
  size_t bytes;
};

struct aclTensorDesc {
  aclDataType dtype;
  aclFormat format;
  std::vector<int64_t> dims;
  std::vector<int64_t> storageDims;  // those of a private format; empty if they are the same
  std::string name;
  bool onHost = false;  // the buffer is in host memory, and is read during the call
};

struct aclopAttr {
  std::map<std::string, simulator::LegacyAttribute, std::less<>> values;
};
