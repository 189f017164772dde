#pragma once

#include <cstdint>
#include <cstdio>
#include <string>

#include "tools/machine_state.h"

namespace simulator::tools {

// What printf would print, as text.
template <typename... Arguments>
std::string Format(const char* format, Arguments... arguments) {
  const int length = std::snprintf(nullptr, 0, format, arguments...);
  std::string text(static_cast<size_t>(length) + 1, '\0');
  std::snprintf(text.data(), text.size(), format, arguments...);
  text.pop_back();
  return text;
}

std::string Repeat(char character, int times);

// 0000:01:00.0 for the first; "NA" for boards without PCI.
std::string BusAddress(const Chip& chip, int32_t physicalId);

// `npu-smi info`.
void PrintTable(const MachineState& machine);

// `npu-smi info -l` and `-m`.
void PrintCards(const MachineState& machine);
void PrintMapping(const MachineState& machine);

// `npu-smi info -t <type>` of a card, or of one chip of it; false for a type that is not simulated.
bool PrintQuery(const std::string& type, const MachineState& machine, const Card& card,
                const ChipState* chip);

// `npu-smi info -t topo`, which is about all of them.
void PrintTopology(const MachineState& machine);

}  // namespace simulator::tools
