#include "tools/machine_state.h"

#include <fstream>

#include "runtime/configuration.h"
#include "runtime/faults.h"
#include "runtime/ledger.h"

namespace simulator::tools {
namespace {

std::string NameOf(int32_t process) {
  std::ifstream file("/proc/" + std::to_string(process) + "/comm");
  std::string name;
  return std::getline(file, name) ? name : "NA";
}

void MarkFaults(ChipState& chip) {
  if (HasFault(Fault::kEccError, chip.physicalId)) {
    chip.health = "Alarm";
    chip.fault = "ecc-error";
    chip.doubleBitErrors = 1;
  }
  if (HasFault(Fault::kDeviceLost, chip.physicalId)) {
    chip.health = "Critical";
    chip.fault = "device-lost";
  }
}

ChipState ObserveChip(int32_t physicalId, const Chip& chip, const std::vector<Use>& uses) {
  ChipState state;
  state.card = physicalId / chip.chipsOnCard;
  state.chip = physicalId % chip.chipsOnCard;
  state.physicalId = physicalId;
  state.totalMebibytes = TheConfiguration().memory >> 20;
  for (const Use& use : uses) {
    if (use.physicalDevice != physicalId) continue;
    const uint64_t mebibytes = use.bytes >> 20;
    state.usedMebibytes += mebibytes;
    state.processes.push_back({use.process, NameOf(use.process), mebibytes});
  }
  MarkFaults(state);
  return state;
}

}  // namespace

MachineState ObserveMachine() {
  const Configuration& configuration = TheConfiguration();
  MachineState machine;
  machine.chip = DescribeChip(configuration.soc);
  machine.driver = configuration.driverVersion;
  machine.matchesDriver = !HasFault(Fault::kVersionMismatch, kEveryDevice);
  if (machine.driver.empty()) machine.driver = "unknown";
  const std::vector<Use> uses = LiveUses();
  for (uint32_t id = 0; id < configuration.devices; ++id) {
    const auto physicalId = static_cast<int32_t>(id);
    if (HasFault(Fault::kNoDevice, physicalId)) continue;
    const ChipState chip = ObserveChip(physicalId, machine.chip, uses);
    if (machine.cards.empty() || machine.cards.back().front().card != chip.card) machine.cards.emplace_back();
    machine.cards.back().push_back(chip);
  }
  return machine;
}

}  // namespace simulator::tools
