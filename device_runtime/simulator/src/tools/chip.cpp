#include "tools/chip.h"

#include <cctype>

namespace simulator::tools {
namespace {

bool StartsWith(const std::string& text, const std::string& start) {
  return text.compare(0, start.size(), start) == 0;
}

// Ascend910B is a first-generation 910; a digit behind it makes it an A2.
bool IsA2(const std::string& name) {
  return StartsWith(name, "910B") && name.size() > 4 &&
         std::isdigit(static_cast<unsigned char>(name[4])) != 0;
}

}  // namespace

Chip DescribeChip(const std::string& soc) {
  const std::string name = StartsWith(soc, "Ascend") ? soc.substr(6) : soc;
  const size_t underscore = soc.find('_');
  const bool isNamedBySoc = underscore != std::string::npos;
  const std::string chip = soc.substr(0, underscore);
  const std::string npu = isNamedBySoc ? soc.substr(underscore + 1) : "";
  if (StartsWith(name, "950")) return {Family::k950, chip, npu, 0xD806};
  if (StartsWith(name, "910_93")) return {Family::kA3, chip, npu, 0xD803, 2};
  if (IsA2(name)) return {Family::k910b, name, "", 0xD802};
  if (StartsWith(name, "310P")) return {Family::k310p, name, "", 0xD500, 1, false};
  if (StartsWith(name, "310B")) return {Family::k310b, name, "", 0, 1, false};
  if (StartsWith(name, "310")) return {Family::k310, name, "", 0xD100, 1, false};
  return {Family::k910, name, "", 0xD801};
}

}  // namespace simulator::tools
