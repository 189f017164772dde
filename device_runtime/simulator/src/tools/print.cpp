#include "tools/print.h"

namespace simulator::tools {

std::string Repeat(char character, int times) {
  std::string text;
  text.assign(static_cast<size_t>(times), character);
  return text;
}

std::string BusAddress(const Chip& chip, int32_t physicalId) {
  return chip.pciDevice == 0 ? "NA" : Format("0000:%02X:00.0", static_cast<unsigned>(physicalId) + 1);
}

}  // namespace simulator::tools
