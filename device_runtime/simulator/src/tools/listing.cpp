#include <cstdio>

#include "tools/print.h"

// `npu-smi info -l` and `-m`: which cards and chips there are.

namespace simulator::tools {
namespace {

void PrintEntry(const char* name, const std::string& value) {
  std::printf("\t%-30s : %s\n", name, value.c_str());
}

bool IsEmpty(const MachineState& machine) {
  if (machine.cards.empty()) std::puts("There is no NPU card on this server.");
  return machine.cards.empty();
}

// What a card is sold as is told of cards, not of the modules of a server.
bool IsServer(Family family) {
  return family == Family::k910 || family == Family::k910b || family == Family::kA3;
}

void PrintRow(const std::vector<std::string>& cells) {
  std::string line = "\t";
  for (size_t i = 0; i + 1 < cells.size(); ++i) line += Format("%-30s ", cells[i].c_str());
  std::puts((line + cells.back()).c_str());
}

}  // namespace

void PrintCards(const MachineState& machine) {
  if (IsEmpty(machine)) return;
  const Family family = machine.chip.family;
  const bool isOld = family == Family::k310 || family == Family::k310b;
  PrintEntry(isOld ? "Card Count" : "Total Count", std::to_string(machine.cards.size()));
  for (const Card& card : machine.cards) {
    std::puts("");
    PrintEntry("NPU ID", std::to_string(card.front().card));
    if (!IsServer(family)) {
      PrintEntry("Product Name", "simulated");
      PrintEntry("Serial Number", "simulated");
    }
    if (family != Family::k950) PrintEntry("Chip Count", std::to_string(card.size()));
  }
}

void PrintMapping(const MachineState& machine) {
  if (IsEmpty(machine)) return;
  const bool isA3 = machine.chip.family == Family::kA3;
  const bool is950 = machine.chip.family == Family::k950;
  if (is950) {
    PrintRow({"NPU ID", "Slot ID", "Chip ID", "Chip Phy-ID", "Chip Name"});
  } else if (isA3) {
    PrintRow({"NPU ID", "Chip ID", "Chip Logic ID", "Chip Phy-ID", "Chip Name"});
  } else {
    PrintRow({"NPU ID", "Chip ID", "Chip Logic ID", "Chip Name"});
  }
  int32_t logicId = 0;
  for (const Card& card : machine.cards) {
    for (const ChipState& chip : card) {
      const std::string npu = std::to_string(chip.card);
      const std::string onCard = std::to_string(chip.chip);
      const std::string logic = std::to_string(logicId++);
      const std::string physical = std::to_string(chip.physicalId);
      if (is950) {
        PrintRow({npu, npu, onCard, physical, machine.chip.name});
      } else if (isA3) {
        PrintRow({npu, onCard, logic, physical, machine.chip.name});
      } else {
        PrintRow({npu, onCard, logic, "Ascend " + machine.chip.name});
      }
    }
  }
}

void PrintTopology(const MachineState& machine) {
  std::vector<std::string> names;
  for (const Card& card : machine.cards) {
    for (const ChipState& chip : card) names.push_back("NPU" + std::to_string(chip.physicalId));
  }
  std::string head = Repeat(' ', 11);
  for (const std::string& name : names) head += Format("%-10s ", name.c_str());
  std::puts((head + "CPU Affinity").c_str());
  for (const std::string& row : names) {
    std::string line = Format("%-10s ", row.c_str());
    for (const std::string& column : names) line += Format("%-10s ", row == column ? "X" : "NA");
    std::puts((line + "NA").c_str());
  }
  std::puts("Legend:\n  X    = Self\n  NA   = Unknown relationship.");
}

}  // namespace simulator::tools
