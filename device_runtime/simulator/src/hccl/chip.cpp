#include "chip.h"

#include <cctype>

#include "runtime/configuration.h"

namespace simulator::hccl {
namespace {

bool Begins(const std::string& text, const std::string& beginning) {
  return text.compare(0, beginning.size(), beginning) == 0;
}

}  // namespace

Chip ChipOf(const std::string& soc) {
  if (Begins(soc, "Ascend910_93")) return Chip::kA3;
  if (Begins(soc, "Ascend950")) return Chip::k950;
  if (Begins(soc, "Ascend310")) return Chip::k310P;
  // Ascend910B without a number is a chip of the first generation.
  const std::string a2 = "Ascend910B";
  if (Begins(soc, a2) && soc.size() > a2.size() && std::isdigit(static_cast<unsigned char>(soc[a2.size()]))) {
    return Chip::kA2;
  }
  return Chip::k910;
}

Chip TheChip() {
  static const Chip chip = ChipOf(TheConfiguration().soc);
  return chip;
}

const char* Name(Chip chip) {
  switch (chip) {
    case Chip::k910:
      return "Ascend 910";
    case Chip::kA2:
      return "Atlas A2";
    case Chip::kA3:
      return "Atlas A3";
    case Chip::k310P:
      return "Ascend 310P";
    case Chip::k950:
      return "Ascend 950";
  }
  return "unknown";
}

}  // namespace simulator::hccl
