#pragma once

#include <string>

namespace simulator::hccl {

// The chip families that HCCL tells apart.
enum class Chip { k910, kA2, kA3, k310P, k950 };

Chip ChipOf(const std::string& soc);

// The chip that this process simulates.
Chip TheChip();

const char* Name(Chip chip);

}  // namespace simulator::hccl
