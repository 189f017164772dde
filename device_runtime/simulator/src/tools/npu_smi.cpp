#include <cstdio>
#include <cstring>
#include <string>

#include "runtime/configuration.h"

// A stand-in for npu-smi: the table of the real one, for devices that are simulated.

namespace {

using simulator::Configuration;

constexpr char kNotice[] = "SIMULATED  this is not an NPU: the devices below are simulated on the host\n";

std::string ChipName(const std::string& soc) {
  const std::string family = "Ascend";
  return soc.compare(0, family.size(), family) == 0 ? soc.substr(family.size()) : soc;
}

void PrintRule(char line) {
  std::printf("+%s+%s+%s+\n", std::string(27, line).c_str(), std::string(15, line).c_str(),
              std::string(52, line).c_str());
}

void PrintDevice(const Configuration& configuration, uint32_t id) {
  const size_t megabytes = configuration.memory >> 20;
  std::printf("| %-5u %-19s | %-13s | %-11s %-17s %-20s |\n", id, ChipName(configuration.soc).c_str(), "OK",
              "0.0", "0", "0    / 0");
  std::printf("| %-25s | %-13s | %-11s %-17s %-5d/ %-13zu |\n", "0", "0000:00:00.0", "0", "0    / 0", 0,
              megabytes);
  PrintRule('=');
}

int PrintTable(const Configuration& configuration) {
  std::printf("+%s+\n", std::string(96, '-').c_str());
  std::printf("| %-32s Version: %-52s |\n", "npu-smi simulated", "simulated");
  PrintRule('-');
  std::printf("| %-25s | %-13s | %-11s %-17s %-20s|\n", "NPU   Name", "Health", "Power(W)", "Temp(C)",
              "Hugepages-Usage(page)");
  std::printf("| %-25s | %-13s | %-11s %-17s %-20s |\n", "Chip", "Bus-Id", "AICore(%)", "Memory-Usage(MB)",
              "HBM-Usage(MB)");
  PrintRule('=');
  for (uint32_t id = 0; id < configuration.devices; ++id) PrintDevice(configuration, id);
  return 0;
}

int PrintList(const Configuration& configuration) {
  std::printf("\tTotal Count                    : %u\n", configuration.devices);
  for (uint32_t id = 0; id < configuration.devices; ++id) {
    std::printf("\n\tNPU ID                         : %u\n\tChip Count                     : 1\n", id);
  }
  return 0;
}

int PrintMap(const Configuration& configuration) {
  std::printf("\t%-30s %-30s %-30s %s\n", "NPU ID", "Chip ID", "Chip Logic ID", "Chip Name");
  for (uint32_t id = 0; id < configuration.devices; ++id) {
    std::printf("\t%-30u %-30u %-30u Ascend %s\n", id, 0U, id, ChipName(configuration.soc).c_str());
  }
  return 0;
}

bool Is(int count, char** arguments, const char* first, const char* second) {
  const int wanted = second == nullptr ? 2 : 3;
  return count == wanted && std::strcmp(arguments[1], first) == 0 &&
         (second == nullptr || std::strcmp(arguments[2], second) == 0);
}

}  // namespace

int main(int count, char** arguments) {
  const Configuration& configuration = simulator::TheConfiguration();
  if (!configuration.problem.empty()) {
    std::fprintf(stderr, "npu-smi (simulated): %s\n", configuration.problem.c_str());
    return 1;
  }
  std::fputs(kNotice, stderr);
  if (Is(count, arguments, "info", nullptr)) return PrintTable(configuration);
  if (Is(count, arguments, "info", "-l")) return PrintList(configuration);
  if (Is(count, arguments, "info", "-m")) return PrintMap(configuration);
  std::fprintf(stderr, "npu-smi (simulated): only 'info', 'info -l' and 'info -m' are simulated\n");
  return 1;
}
