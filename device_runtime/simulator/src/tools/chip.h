#pragma once

#include <cstdint>
#include <string>

namespace simulator::tools {

enum class Family { k310, k310p, k310b, k910, k910b, kA3, k950 };

// How npu-smi speaks of a chip (printing code in hicann/driver, src/custom/dev_prod/user/npucli).
struct Chip {
  Family family = Family::k910;
  std::string name;           // of the chip: 910B4, Ascend910, Ascend950PR
  std::string npuName;        // what tells the SoCs of one chip apart: 9391, 9589; empty where the name does
  uint32_t pciDevice = 0;     // 0 for boards without PCI
  int32_t chipsOnCard = 1;    // of one NPU id
  bool highBandwidth = true;  // its memory is HBM, and the DDR of its board is not its own
};

Chip DescribeChip(const std::string& soc);

}  // namespace simulator::tools
