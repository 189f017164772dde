#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "hccl/hccl_types.h"

namespace simulator::hccl {

// Bytes of one element; 0 for a value that is no HCCL data type.
size_t ElementSize(HcclDataType type);
const char* Name(HcclDataType type);
const char* Name(HcclReduceOp operation);

// destination[i] = operation over sources[0][i], sources[1][i], ... in that order. fp16 and bf16 accumulate
// in float and are rounded once; integers wrap. `destination` may be one of the sources.
void Reduce(HcclDataType type, HcclReduceOp operation, const std::vector<const std::byte*>& sources,
            std::byte* destination, size_t count);

}  // namespace simulator::hccl
