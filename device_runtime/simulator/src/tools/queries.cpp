#include <algorithm>
#include <cstdio>
#include <map>

#include "runtime/configuration.h"
#include "tools/print.h"

// `npu-smi info -t <type> -i <card> [-c <chip>]`. What a simulated chip does not have, such as a temperature,
// is told as 0 where a number is read and as NA or "simulated" elsewhere.

namespace simulator::tools {
namespace {

constexpr int kWide = 40;

void Entry(const char* name, const std::string& value, int width = 30) {
  std::printf("\t%-*s : %s\n", width, name, value.c_str());
}

void Entry(const char* name, uint64_t value, int width = 30) { Entry(name, std::to_string(value), width); }

// What a query prints of one chip.
using PrintChip = void (*)(const MachineState& machine, const ChipState& chip);

bool HasOwnDdr(const MachineState& machine) { return !machine.chip.highBandwidth; }

bool IsSmall(const MachineState& machine) {
  return machine.chip.family == Family::k310 || machine.chip.family == Family::k310b;
}

// 910B, A3 and 950 count the work of cube and vector units on their own.
bool HasVectorUnits(const MachineState& machine) {
  return machine.chip.highBandwidth && machine.chip.family != Family::k910;
}

void PrintUsages(const MachineState& machine, const ChipState& chip) {
  const std::string prefix = IsSmall(machine) ? "" : "DDR ";
  const bool hasDdr = HasOwnDdr(machine);
  Entry(IsSmall(machine) ? "Memory Capacity(MB)" : "DDR Capacity(MB)", hasDdr ? chip.totalMebibytes : 0);
  Entry(IsSmall(machine) ? "Memory Usage Rate(%)" : "DDR Usage Rate(%)", hasDdr ? chip.UsedPercent() : 0);
  Entry((prefix + "Hugepages Total(page)").c_str(), uint64_t{0});
  Entry((prefix + "Hugepages Usage Rate(%)").c_str(), uint64_t{0});
  if (!hasDdr) {
    Entry("HBM Capacity(MB)", chip.totalMebibytes);
    Entry("HBM Usage Rate(%)", chip.UsedPercent());
  }
  Entry("Aicore Usage Rate(%)", uint64_t{0});
  if (HasVectorUnits(machine)) Entry("Aivector Usage Rate(%)", uint64_t{0});
  Entry("Aicpu Usage Rate(%)", uint64_t{0});
  Entry("Ctrlcpu Usage Rate(%)", uint64_t{0});
  if (machine.chip.family == Family::k310p) Entry("Vectorcore Usage Rate(%)", uint64_t{0});
  Entry(IsSmall(machine) ? "Memory Bandwidth Usage Rate(%)" : "DDR Bandwidth Usage Rate(%)", uint64_t{0});
  if (!hasDdr) Entry("HBM Bandwidth Usage Rate(%)", uint64_t{0});
  if (machine.chip.family == Family::k310p) {
    for (const char* unit : {"VDEC", "VPC", "VENC", "JPEGE", "JPEGD"}) {
      Entry(Format("DVPP %s Usage Rate(%%)", unit).c_str(), uint64_t{0});
    }
  }
  if (HasVectorUnits(machine)) {
    Entry("NPU Utilization(%)", uint64_t{0});
    Entry("Aicube Usage Rate(%)", uint64_t{0});
  }
}

void PrintCommon(const MachineState& machine, const ChipState& chip) {
  Entry("Memory Usage Rate(%)", HasOwnDdr(machine) ? chip.UsedPercent() : 0);
  if (machine.chip.highBandwidth) Entry("HBM Usage Rate(%)", chip.UsedPercent());
  Entry("Aicore Usage Rate(%)", uint64_t{0});
  Entry("Aicore Freq(MHZ)", uint64_t{0});
  Entry("Aicore curFreq(MHZ)", uint64_t{0});
  if (machine.chip.highBandwidth) {
    Entry("Aicore Count", static_cast<uint64_t>(TheConfiguration().cubeCores));
  }
  Entry("Temperature(C)", uint64_t{0});
  if (machine.chip.highBandwidth) Entry("NPU Real-time Power(W)", "0.0");
}

void PrintMemory(const MachineState& machine, const ChipState& chip) {
  if (IsSmall(machine)) {
    Entry("Capacity(MB)", chip.totalMebibytes);
    Entry("Clock Speed(MHz)", uint64_t{0});
    return;
  }
  Entry("DDR Capacity(MB)", HasOwnDdr(machine) ? chip.totalMebibytes : 0);
  Entry("DDR Clock Speed(MHz)", uint64_t{0});
  if (HasOwnDdr(machine)) return;
  Entry("HBM Capacity(MB)", chip.totalMebibytes);
  Entry("HBM Clock Speed(MHz)", uint64_t{0});
  Entry("HBM Temperature(C)", uint64_t{0});
  if (HasVectorUnits(machine)) Entry("HBM Manufacturer ID", "0x0");
}

void PrintEcc(const MachineState& machine, const ChipState& chip) {
  if (IsSmall(machine)) {
    Entry("Single-bit Error Count", uint64_t{0}, kWide);
    Entry("Double-bit Error Count", chip.doubleBitErrors, kWide);
    return;
  }
  const bool hasBoth = machine.chip.family == Family::k910;
  for (const char* memory : {"DDR", "HBM"}) {
    const bool isItsOwn = (memory[0] == 'H') == machine.chip.highBandwidth;
    if (!isItsOwn && !hasBoth) continue;
    const uint64_t errors = isItsOwn ? chip.doubleBitErrors : 0;
    Entry(Format("%s Single Bit Error Count", memory).c_str(), uint64_t{0}, kWide);
    Entry(Format("%s Double Bit Error Count", memory).c_str(), errors, kWide);
    Entry(Format("%s Single Bit Aggregate Total Err Cnt", memory).c_str(), uint64_t{0}, kWide);
    Entry(Format("%s Double Bit Aggregate Total Err Cnt", memory).c_str(), errors, kWide);
    Entry(Format("%s Single Bit Isolated Pages Count", memory).c_str(), uint64_t{0}, kWide);
    Entry(Format("%s Double Bit Isolated Pages Count", memory).c_str(), errors, kWide);
  }
}

void PrintHealth(const MachineState& machine, const ChipState& chip) {
  Entry(machine.chip.family == Family::k950 ? "Health" : "Health Status", chip.health);
  Entry("Error Code", "NA");
  Entry("Error Information",
        chip.fault.empty() ? "NA" : chip.fault + " (simulated, asked for by ASCENDENV_SIM_FAULT)");
}

void PrintTemperature(const MachineState& machine, const ChipState&) {
  Entry(HasOwnDdr(machine) ? "Temperature (C)" : "NPU Temperature (C)", uint64_t{0});
}

void PrintPower(const MachineState& machine, const ChipState&) {
  Entry(machine.chip.family == Family::k310 ? "Rated Power Dissipation(W)" : "NPU Real-time Power(W)", "0.0");
}

void PrintProduct(const MachineState&, const ChipState&) { Entry("Product Type", "simulated"); }

void PrintBusIdentity(const MachineState& machine, const ChipState& chip) {
  Entry("PCIe Bus Info", BusAddress(machine.chip, chip.physicalId));
  Entry("Slot ID", static_cast<uint64_t>(chip.card));
  Entry("Class ID", "NA");
  Entry("PCI Vendor ID", "0x19E5");
  Entry("PCI Device ID", Format("0x%04X", machine.chip.pciDevice));
}

// The board as a whole.
void PrintBoard(const MachineState& machine, const Card& card) {
  const bool is950 = machine.chip.family == Family::k950;
  Entry("NPU ID", static_cast<uint64_t>(card.front().card));
  Entry("Product Name", "simulated");
  if (is950) {
    Entry("NPU Name", machine.chip.npuName);
    Entry("Chip Name", machine.chip.name);
    Entry("Chip Version", "NA");
  }
  Entry("Model", "simulated");
  Entry("Manufacturer", "simulated");
  Entry("Serial Number", "simulated");
  Entry("Software Version", machine.driver);
  Entry("Firmware Version", "simulated");
  if (machine.chip.pciDevice != 0) Entry("Compatibility", machine.matchesDriver ? "OK" : "NOK");
  Entry("Board ID", "NA");
  Entry("PCB ID", "NA");
  Entry("BOM ID", uint64_t{0});
  if (machine.chip.pciDevice != 0) PrintBusIdentity(machine, card.front());
  Entry("Chip Count", card.size());
}

// One chip of it.
void PrintBoardOfChip(const MachineState& machine, const ChipState& chip) {
  const bool isA3 = machine.chip.family == Family::kA3;
  Entry("NPU ID", static_cast<uint64_t>(chip.card));
  if (isA3) Entry("NPU Name", machine.chip.npuName);
  Entry("Chip ID", static_cast<uint64_t>(chip.chip));
  if (!isA3) Entry("Chip Type", "Ascend");
  Entry("Chip Name", machine.chip.name);
  Entry("Chip Version", "NA");
  Entry("Board ID", "NA");
  Entry("PCB ID", "NA");
  Entry("BOM ID", uint64_t{0});
  Entry("Chip Position ID", static_cast<uint64_t>(chip.chip));
  Entry("PCIe Bus Info", BusAddress(machine.chip, chip.physicalId));
  Entry("Firmware Version", "simulated");
}

const std::map<std::string, PrintChip>& Queries() {
  static const std::map<std::string, PrintChip> queries = {
      {"usages", PrintUsages}, {"common", PrintCommon},    {"memory", PrintMemory}, {"ecc", PrintEcc},
      {"health", PrintHealth}, {"temp", PrintTemperature}, {"power", PrintPower},   {"product", PrintProduct},
  };
  return queries;
}

// The chips of a card one after another, each with its number.
void PrintChips(const MachineState& machine, const Card& card, const std::string& type, PrintChip print) {
  const int width = type == "ecc" ? kWide : 30;
  Entry("NPU ID", static_cast<uint64_t>(card.front().card), width);
  if (machine.chip.family == Family::k950) {
    print(machine, card.front());
    return;
  }
  Entry("Chip Count", card.size(), width);
  for (const ChipState& chip : card) {
    std::puts("");
    if (type == "common") Entry("Chip ID", static_cast<uint64_t>(chip.chip), width);
    print(machine, chip);
    if (type != "common") Entry("Chip ID", static_cast<uint64_t>(chip.chip), width);
  }
}

}  // namespace

bool PrintQuery(const std::string& type, const MachineState& machine, const Card& card,
                const ChipState* chip) {
  if (type == "board") {
    if (chip == nullptr) {
      PrintBoard(machine, card);
    } else {
      PrintBoardOfChip(machine, *chip);
    }
    return true;
  }
  const auto query = Queries().find(type);
  if (query == Queries().end()) return false;
  if (chip == nullptr) {
    PrintChips(machine, card, type, query->second);
  } else {
    query->second(machine, *chip);
  }
  return true;
}

}  // namespace simulator::tools
