#pragma once

#include <string>

#include "chip.h"
#include "hccl/hccl_types.h"

namespace simulator::hccl {

// What the chips take (HCCL's documentation of each operation, and the checks of its code).

bool CanMove(Chip chip, HcclDataType type);
bool CanReduce(Chip chip, HcclDataType type, HcclReduceOp operation);

// The data types that can, one after the other, for messages.
std::string Movable(Chip chip);
std::string Reducible(Chip chip, HcclReduceOp operation);

}  // namespace simulator::hccl
