#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tools/chip.h"

namespace simulator::tools {

struct Process {
  int32_t id;
  std::string name;
  uint64_t mebibytes;
};

// One chip as it is now. A simulated one has neither a temperature nor a power, and nothing that is measured.
struct ChipState {
  int32_t card = 0;        // what npu-smi calls the NPU id
  int32_t chip = 0;        // on its card
  int32_t physicalId = 0;  // what programs and the account of memory count by
  std::string health = "OK";
  std::string fault;  // the fault that was asked for; empty when it is well
  uint32_t doubleBitErrors = 0;
  uint64_t usedMebibytes = 0;
  uint64_t totalMebibytes = 0;
  std::vector<Process> processes;

  uint64_t UsedPercent() const { return totalMebibytes == 0 ? 0 : usedMebibytes * 100 / totalMebibytes; }
};

using Card = std::vector<ChipState>;

struct MachineState {
  Chip chip;
  std::string driver;
  bool matchesDriver = true;
  std::vector<Card> cards;
};

// Fails by std::runtime_error when the account of memory cannot be read.
MachineState ObserveMachine();

}  // namespace simulator::tools
