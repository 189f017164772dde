#include <cstdio>
#include <cstdlib>
#include <exception>
#include <optional>
#include <string>
#include <vector>

#include "runtime/configuration.h"
#include "runtime/faults.h"
#include "tools/machine_state.h"
#include "tools/print.h"

// A stand-in for npu-smi. Wording and codes of its failures are those of the real one, whose exit code is the
// last byte of its negative numbers.

namespace simulator::tools {
namespace {

using Arguments = std::vector<std::string>;

constexpr char kNotice[] = "SIMULATED  this is not an NPU: results say nothing about hardware";

constexpr int kOk = 0;
constexpr int kInvalidParameter = -9001;
constexpr int kUnknownCommand = -9005;
constexpr int kNotSupported = -9255;
constexpr int kDriverFailed = -8005;
constexpr int kDriverOccupied = -8020;

// The types of the real tool, so that one that is not simulated is told from one that does not exist.
constexpr const char* kTypes[] = {"board",         "flash",
                                  "memory",        "usages",
                                  "sensors",       "temp",
                                  "power",         "volt",
                                  "mac-addr",      "common",
                                  "health",        "product",
                                  "ecc",           "ip",
                                  "sys-time",      "i2c_check",
                                  "work-mode",     "ecc-enable",
                                  "p2p-enable",    "license",
                                  "nve-level",     "aicpu-config",
                                  "pcie-err",      "err-count",
                                  "proc-mem",      "phyid-remap",
                                  "template-info", "topo",
                                  "hccs",          "sio-info",
                                  "spod-info",     "key-manage",
                                  "tls-cert",      "current-fault-event",
                                  "sys-log-info",  "hccs-bw",
                                  "boot-area",     "info-vnpu",
                                  "vnpu-mode",     "vnpu-svm"};

int PrintHelp() {
  std::puts("Usage: npu-smi <Command|-h|-v> [Options...]\n\nnpu-smi Command:");
  for (const auto& [name, text] :
       {std::pair{"-h", "This command's help information"},
        std::pair{"--help", "This command's help information"},
        std::pair{"-v", "Show npu-smi version information"}, std::pair{"info", "Show hardware details"},
        std::pair{"set", "Modify device configuration properties (not simulated)"},
        std::pair{"clear", "Clear device information (not simulated)"},
        std::pair{"upgrade", "Upgrade MCU firmware (not simulated)"}}) {
    std::printf("\t%-12s  %s\n", name, text);
  }
  return kOk;
}

int PrintInfoHelp() {
  std::puts(
      "Usage: npu-smi info <-h|-m|-l|-t type> [Options...]\n\n"
      "Commands:\n"
      "       -h, --help     Show this help text and exit\n"
      "       -m             Show all device's mapping information\n"
      "       -l             Show all device's topology information\n"
      "       -t type        Show information for type\n"
      "                      type: board, memory, usages, temp, power, common, health, product, ecc, "
      "topo.\n\n"
      "Options:\n"
      "       -i %d          Card ID\n"
      "       -c %d          Chip ID");
  return kOk;
}

int Refuse(const std::string& message, int code) {
  std::puts(message.c_str());
  return code;
}

int WrongParameter(const std::string& message, const std::string& option) {
  if (!message.empty()) std::puts(message.c_str());
  std::printf("Error parameter of %s\n", option.c_str());
  PrintInfoHelp();
  return kInvalidParameter;
}

// Whether the driver answers, which the real tool asks before anything else.
int ReachDriver() {
  if (HasFault(Fault::kDeviceBusy, kEveryDevice)) {
    std::puts("DrvMngGetConsoleLogLevel failed. (ret=4)");
    return Refuse("dcmi model initialized failed, because the device is used. ret is -8020", kDriverOccupied);
  }
  for (const Fault fault : {Fault::kDriverMissing, Fault::kPermissionDenied, Fault::kNoDevice}) {
    if (!HasFault(fault, kEveryDevice)) continue;
    std::puts("DrvMngGetConsoleLogLevel failed. (ret=4)");
    return Refuse("dcmi module initialize failed. ret is -8005", kDriverFailed);
  }
  return kOk;
}

std::optional<int32_t> Number(const std::string& text) {
  char* end = nullptr;
  const long number = std::strtol(text.c_str(), &end, 10);
  if (text.empty() || *end != '\0' || number < 0 || number > kMostDevices) return std::nullopt;
  return static_cast<int32_t>(number);
}

const Card* FindCard(const MachineState& machine, std::optional<int32_t> id) {
  for (const Card& card : machine.cards) {
    if (card.front().card == id) return &card;
  }
  return nullptr;
}

const ChipState* FindChip(const Card& card, std::optional<int32_t> id) {
  for (const ChipState& chip : card) {
    if (chip.chip == id) return &chip;
  }
  return nullptr;
}

bool IsType(const std::string& name) {
  for (const char* type : kTypes) {
    if (name == type) return true;
  }
  return false;
}

struct Query {
  std::string type;
  std::string card;
  std::string chip;
};

// Reads the options, each with its value; 0, or the code of what is wrong with them.
int ParseQuery(const Arguments& arguments, Query& query) {
  for (size_t i = 0; i < arguments.size(); i += 2) {
    const std::string& option = arguments[i];
    const std::string value = i + 1 < arguments.size() ? arguments[i + 1] : "";
    if (option == "-t" && IsType(value)) {
      query.type = value;
    } else if (option == "-i" && !value.empty()) {
      query.card = value;
    } else if (option == "-c" && !value.empty()) {
      query.chip = value;
    } else {
      return WrongParameter("", option);
    }
  }
  return query.type.empty() ? WrongParameter("", arguments.front()) : kOk;
}

int RunQuery(const Arguments& arguments, const MachineState& machine) {
  Query query;
  if (const int error = ParseQuery(arguments, query)) return error;
  if (query.type == "topo") {
    PrintTopology(machine);
    return kOk;
  }
  if (query.card.empty()) return Refuse("You must select a card at first.", kInvalidParameter);
  const Card* card = FindCard(machine, Number(query.card));
  if (card == nullptr) return WrongParameter("Invalid card id.", "-i");
  const ChipState* chip = nullptr;
  if (!query.chip.empty()) {
    if (machine.chip.family == Family::k950) {
      return Refuse("This device does not support input parameter of -c.", kInvalidParameter);
    }
    chip = FindChip(*card, Number(query.chip));
    if (chip == nullptr) return WrongParameter("Invalid chip id.", "-c");
  }
  if (PrintQuery(query.type, machine, *card, chip)) return kOk;
  return Refuse("This device does not support querying " + query.type + ".", kOk);
}

int Info(const Arguments& arguments) {
  const MachineState machine = ObserveMachine();
  if (arguments.empty()) {
    PrintTable(machine);
    return kOk;
  }
  const std::string& first = arguments.front();
  if (first == "-h" || first == "--help") return PrintInfoHelp();
  if (first == "-l" || first == "-m") {
    first == "-l" ? PrintCards(machine) : PrintMapping(machine);
    return kOk;
  }
  return RunQuery(arguments, machine);
}

int Run(const Arguments& arguments) {
  if (arguments.empty()) {
    PrintHelp();
    return kInvalidParameter;
  }
  const std::string& command = arguments.front();
  const bool isKnown = command == "-h" || command == "--help" || command == "-v" || command == "info" ||
                       command == "set" || command == "clear" || command == "upgrade";
  if (!isKnown) {
    std::puts("Command or option is not found.");
    PrintHelp();
    return kUnknownCommand;
  }
  if (const int error = ReachDriver()) return error;
  const Arguments rest(arguments.begin() + 1, arguments.end());
  if (command == "info") return Info(rest);
  if (command == "-v") {
    std::printf("npu-smi version: %s\n", TheConfiguration().driverVersion.c_str());
    return kOk;
  }
  if (command == "-h" || command == "--help") return PrintHelp();
  return Refuse("A simulated NPU does not support npu-smi " + command + ".", kNotSupported);
}

int Main(const Arguments& arguments) {
  const std::string& problem = TheConfiguration().problem;
  std::puts(kNotice);
  if (!problem.empty()) {
    std::fprintf(stderr, "npu-smi (simulated): %s\n", problem.c_str());
    return kInvalidParameter;
  }
  try {
    return Run(arguments);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "npu-smi (simulated): %s\n", error.what());
    return kUnknownCommand;
  }
}

}  // namespace
}  // namespace simulator::tools

int main(int count, char** arguments) { return simulator::tools::Main({arguments + 1, arguments + count}); }
