#include <cstdio>
#include <cstdlib>

#include "tools/print.h"

// `npu-smi info`. Its layout depends on the chip and on the generation of the driver; all give two lines to a
// chip. The widths are those of recorded tables.

namespace simulator::tools {
namespace {

struct Layout {
  int width;                      // of a line between its two ends
  std::vector<int> columns;       // of the cells of a chip, likewise
  const char* version;            // tool and driver
  std::vector<const char*> head;  // names of the columns
  const char* processes;          // names of the columns of the processes
};

// 310, 310P and 310B.
const Layout& WithoutHighBandwidth() {
  static const Layout layout = {104,
                                {31, 17, 54},
                                "| npu-smi %-40s Version: %-44s |\n",
                                {"| NPU     Name                  | Health          | Power(W)     Temp(C)   "
                                 "        Hugepages-Usage(page) |",
                                 "| Chip    Device                | Bus-Id          | AICore(%)    "
                                 "Memory-Usage(MB)                        |"},
                                "| NPU     Chip                  | Process id      | Process name            "
                                " | Process memory(MB)        |"};
  return layout;
}

// 910, 910B and A3 up to driver 25.
const Layout& Narrow() {
  static const Layout layout = {
      96,
      {27, 15, 52},
      "| npu-smi %-24s Version: %-52s |\n",
      {"| NPU   Name                | Health        | Power(W)    Temp(C)           Hugepages-Usage(page)|",
       "| Chip                      | Bus-Id        | AICore(%)   Memory-Usage(MB)  HBM-Usage(MB)        |"},
      "| NPU     Chip              | Process id    | Process name             | Process memory(MB)      |"};
  return layout;
}

// The same from driver 26 on.
const Layout& Wide() {
  static const Layout layout = {114,
                                {27, 15, 70},
                                "| npu-smi %-35s Version: %-59s |\n",
                                {"| NPU   Name                | Health        | Power(W)             Temp(C) "
                                 "                Hugepages-Usage(page)   |",
                                 "| Chip                      | Bus-Id        | AICore(%)            "
                                 "Memory-Usage(MB)        HBM-Usage(MB)           |"},
                                "| NPU     Chip              | Process id    | Process name       | Process "
                                "memory(MB)    | Process id in container |"};
  return layout;
}

const Layout& Of950() {
  static const Layout layout = {
      97,
      {8, 18, 15, 53},
      "| npu-smi %-40s Version: %-37s |\n",
      {"| NPU ID | Name             | Health        | Power(W)    Temp(C)           Hugepages-Usage(page) |",
       "|        |                  | Bus-Id        | NPU Util(%) Memory-Usage(MB)  HBM-Usage(MB)         |"},
      "| NPU ID                    | Process id    | Process name             | Process memory(MB)       |"};
  return layout;
}

bool IsWide(const MachineState& machine) {
  return machine.chip.highBandwidth && machine.chip.family != Family::k950 &&
         std::strtol(machine.driver.c_str(), nullptr, 10) >= 26;
}

const Layout& LayoutOf(const MachineState& machine) {
  if (!machine.chip.highBandwidth) return WithoutHighBandwidth();
  if (machine.chip.family == Family::k950) return Of950();
  return IsWide(machine) ? Wide() : Narrow();
}

void PrintLine(const std::string& line) { std::puts(line.c_str()); }

void PrintRule(const std::vector<int>& columns, char line) {
  std::string rule = "+";
  for (const int column : columns) rule += Repeat(line, column) + "+";
  PrintLine(rule);
}

void PrintPlainRule(const Layout& layout) { PrintLine("+" + Repeat('-', layout.width) + "+"); }

std::string Identity(const MachineState& machine, const ChipState& state) {
  if (!machine.chip.highBandwidth) return Format("| %-7d %-22s", state.card, machine.chip.name.c_str());
  if (machine.chip.family == Family::k950)
    return Format("| %-7d| %-17s", state.card, machine.chip.name.c_str());
  return Format("| %-5d %-20s", state.card, machine.chip.name.c_str());
}

std::string Place(const MachineState& machine, const ChipState& state) {
  if (!machine.chip.highBandwidth) return Format("| %-7d %-22d", state.chip, state.physicalId);
  if (machine.chip.family == Family::k950) return Format("|%-8s|%-18s", "", "");
  if (machine.chip.family == Family::kA3) return Format("| %-5d %-20d", state.chip, state.physicalId);
  return Format("| %-26d", state.chip);
}

// Power, temperature and huge pages of a simulated chip are none; a 310P and the second chip of an A3 card
// have no power of their own either on a real machine.
std::string Condition(const MachineState& machine, const ChipState& state) {
  const bool isSecondOfA3 = machine.chip.family == Family::kA3 && state.chip == 1;
  const char* others = machine.chip.family == Family::k310p ? "NA" : "0.0";
  const char* power = isSecondOfA3 ? "-" : others;
  const char* health = state.health.c_str();
  if (!machine.chip.highBandwidth)
    return Format("| %-15s | %-12s %-17d %-6d/ %-13d |", health, power, 0, 0, 0);
  if (machine.chip.family == Family::k950) {
    return Format("| %-13s | %-11s %-17d %-6d/ %-13d |", health, power, 0, 0, 0);
  }
  if (IsWide(machine)) return Format("| %-13s | %-20s %-23d %-5d/ %-16d |", health, power, 0, 0, 0);
  return Format("| %-13s | %-11s %-17d %-5d/ %-13d |", health, power, 0, 0, 0);
}

std::string Memory(const MachineState& machine, const ChipState& state) {
  const std::string bus = BusAddress(machine.chip, state.physicalId);
  const auto used = static_cast<unsigned long long>(state.usedMebibytes);
  const auto total = static_cast<unsigned long long>(state.totalMebibytes);
  if (!machine.chip.highBandwidth)
    return Format("| %-15s | %-12d %-5llu/ %-32llu |", bus.c_str(), 0, used, total);
  if (machine.chip.family == Family::k950) {
    return Format("| %-13s | %-11d %-5d/ %-10d %-6llu/ %-13llu |", bus.c_str(), 0, 0, 0, used, total);
  }
  if (IsWide(machine)) {
    return Format("| %-13s | %-20d %-5d/ %-16d %-5llu/ %-16llu |", bus.c_str(), 0, 0, 0, used, total);
  }
  return Format("| %-13s | %-11d %-5d/ %-10d %-5llu/ %-13llu |", bus.c_str(), 0, 0, 0, used, total);
}

void PrintProcess(const MachineState& machine, const ChipState& state, const Process& process) {
  const char* name = process.name.c_str();
  const auto used = static_cast<unsigned long long>(process.mebibytes);
  if (!machine.chip.highBandwidth) {
    PrintLine(
        Format("| %-7d %-22d| %-15d | %-24s | %-25llu |", state.card, state.chip, process.id, name, used));
  } else if (machine.chip.family == Family::k950) {
    PrintLine(Format("| %-26d | %-13d | %-24s | %-23llu |", state.card, process.id, name, used));
  } else if (IsWide(machine)) {
    PrintLine(Format("| %-7d %-18d| %-13d | %-18s | %-21llu | %-23s |", state.card, state.chip, process.id,
                     name, used, "NA"));
  } else {
    PrintLine(
        Format("| %-7d %-18d| %-13d | %-24s | %-23llu |", state.card, state.chip, process.id, name, used));
  }
}

void PrintHead(const MachineState& machine, const Layout& layout) {
  PrintPlainRule(layout);
  std::printf(layout.version, machine.driver.c_str(), machine.driver.c_str());
  PrintRule(layout.columns, '-');
  PrintLine(layout.head[0]);
  std::string second = layout.head[1];
  if (machine.chip.family == Family::kA3) second.replace(2, 12, "Chip  Phy-ID");
  PrintLine(second);
  PrintRule(layout.columns, '=');
}

void PrintProcesses(const MachineState& machine, const Layout& layout) {
  const std::vector<int> columns(layout.columns.end() - 2, layout.columns.end());
  const int first = layout.width - columns[0] - columns[1] - 2;
  PrintRule({first, columns[0], columns[1]}, '-');
  PrintLine(layout.processes);
  PrintRule({first, columns[0], columns[1]}, '=');
  for (const Card& card : machine.cards) {
    bool isIdle = true;
    for (const ChipState& chip : card) {
      for (const Process& process : chip.processes) PrintProcess(machine, chip, process);
      isIdle = isIdle && chip.processes.empty();
    }
    const std::string idle = Format("No running processes found in NPU %d", card.front().card);
    if (isIdle) PrintLine(Format("| %-*s |", layout.width - 2, idle.c_str()));
    PrintRule({first, columns[0], columns[1]}, '=');
  }
}

}  // namespace

void PrintTable(const MachineState& machine) {
  const Layout& layout = LayoutOf(machine);
  PrintHead(machine, layout);
  for (const Card& card : machine.cards) {
    for (const ChipState& chip : card) {
      if (chip.chip > 0) PrintPlainRule(layout);
      PrintLine(Identity(machine, chip) + Condition(machine, chip));
      PrintLine(Place(machine, chip) + Memory(machine, chip));
    }
    PrintRule(layout.columns, '=');
  }
  PrintProcesses(machine, layout);
}

}  // namespace simulator::tools
