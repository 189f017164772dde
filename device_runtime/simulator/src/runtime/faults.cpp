#include "runtime/faults.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <regex>
#include <sstream>
#include <string_view>

namespace simulator {
namespace {

struct Kind {
  std::string_view name;
  Fault fault;
  bool ofOneDevice;  // whether it can strike one device alone
  bool counts;       // whether it can strike later than at once
};

constexpr std::array<Kind, 9> kKinds = {{
    {"no-device", Fault::kNoDevice, true, false},
    {"driver-missing", Fault::kDriverMissing, false, false},
    {"device-busy", Fault::kDeviceBusy, true, false},
    {"permission-denied", Fault::kPermissionDenied, true, false},
    {"out-of-memory", Fault::kOutOfMemory, true, true},
    {"ecc-error", Fault::kEccError, true, true},
    {"device-lost", Fault::kDeviceLost, true, true},
    {"link-down", Fault::kLinkDown, true, true},
    {"version-mismatch", Fault::kVersionMismatch, true, false},
}};

std::string AllNames() {
  std::string names;
  for (const Kind& kind : kKinds) names += (names.empty() ? "" : ", ") + std::string(kind.name);
  return names;
}

const Kind* KindNamed(std::string_view name) {
  const auto* found =
      std::find_if(kKinds.begin(), kKinds.end(), [&](const Kind& kind) { return kind.name == name; });
  return found == kKinds.end() ? nullptr : found;
}

std::string ParseOne(const std::string& text, FaultRequest* request) {
  static const std::regex shape(R"(([^@:]*)(@(\d{1,9}))?(:(\d{1,9}))?)");
  std::smatch parts;
  if (!std::regex_match(text, parts, shape)) return "'" + text + "' is not <name>[@<device>][:<after>]";
  const std::string name = parts[1];
  const std::ssub_match& device = parts[3];
  const std::ssub_match& after = parts[5];
  const Kind* kind = KindNamed(name);
  if (kind == nullptr) return "no fault is called '" + name + "': there are " + AllNames();
  if (device.matched && !kind->ofOneDevice) return name + " cannot strike one device alone";
  if (after.matched && !kind->counts) return name + " is there from the start and takes no ':<after>'";
  request->fault = kind->fault;
  if (device.matched) request->device = std::stoi(device);
  if (after.matched) request->after = std::stoul(after);
  return {};
}

struct Counted {
  explicit Counted(const FaultRequest& asked) : request(asked) {}

  const FaultRequest request;
  std::atomic<uint64_t> passed{0};
};

struct OfTheProcess {
  std::vector<std::unique_ptr<Counted>> faults;
  std::string problem;
};

OfTheProcess Read() {
  OfTheProcess read;
  const char* text = std::getenv("ASCENDENV_SIM_FAULT");
  FaultRequests parsed = ParseFaults(text == nullptr ? "" : text);
  for (const FaultRequest& request : parsed.requests)
    read.faults.push_back(std::make_unique<Counted>(request));
  read.problem = std::move(parsed.problem);
  return read;
}

const OfTheProcess& ThisProcess() {
  static const auto* faults = new OfTheProcess(Read());
  return *faults;
}

bool Concerns(const FaultRequest& request, Fault fault, int32_t physicalDevice) {
  return request.fault == fault && (request.device == kEveryDevice || request.device == physicalDevice);
}

std::string MicrosecondsNow() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::to_string(std::chrono::duration_cast<std::chrono::microseconds>(now).count());
}

// The codes EL.... are those of the driver, drvRetCode its own result (DRV_ERROR_...), 0x70200.. results
// inside the runtime; from the sources of the CANN runtime (error_code.json, errcode_manage.cc) and from
// field reports.
Failure OpenFailure(const std::string& reason, int32_t device) {
  return MakeFailure(
      ACL_ERROR_RT_DEV_SETUP_ERROR,
      reason + " Failed to open device, retCode=0x7020014, deviceId=" + std::to_string(device));
}

Failure DriverFailure(aclError code, const std::string& reason, const std::string& result) {
  return MakeFailure(code, reason + " Call driver api drvGetDevNum failed" + result + ".");
}

Failure AccessFailure(const std::string& reason, const std::string& result, int32_t device) {
  if (device != kEveryDevice) return OpenFailure(reason, device);
  return DriverFailure(ACL_ERROR_RT_DRV_INTERNAL_ERROR, reason, ", drvRetCode=" + result);
}

}  // namespace

FaultRequests ParseFaults(const std::string& text) {
  FaultRequests parsed;
  std::istringstream entries(text);
  for (std::string entry; std::getline(entries, entry, ',');) {
    FaultRequest request{};
    const std::string problem = ParseOne(entry, &request);
    if (!problem.empty())
      return {{}, std::string("ASCENDENV_SIM_FAULT=").append(text).append(": ").append(problem)};
    parsed.requests.push_back(request);
  }
  return parsed;
}

const std::string& FaultProblem() { return ThisProcess().problem; }

bool HasFault(Fault fault, int32_t physicalDevice) {
  const auto& faults = ThisProcess().faults;
  return std::any_of(faults.begin(), faults.end(),
                     [=](const auto& counted) { return Concerns(counted->request, fault, physicalDevice); });
}

std::optional<Failure> FaultOf(Fault fault, int32_t physicalDevice) {
  bool due = false;
  for (const auto& counted : ThisProcess().faults) {
    if (!Concerns(counted->request, fault, physicalDevice)) continue;
    due = counted->passed++ >= counted->request.after || due;
  }
  return due ? std::optional(FailureBy(fault, physicalDevice)) : std::nullopt;
}

Failure FailureBy(Fault fault, int32_t physicalDevice) {
  const std::string device = std::to_string(physicalDevice);
  switch (fault) {
    case Fault::kNoDevice:
      return DriverFailure(ACL_ERROR_RT_NO_DEVICE, "EL0001: Device not found or invalid.", ", drvRetCode=1");
    case Fault::kDriverMissing:
      return DriverFailure(ACL_ERROR_RT_DRV_INTERNAL_ERROR,
                           "DrvMngGetConsoleLogLevel failed. (ret=4) The driver cannot be reached.", "");
    case Fault::kDeviceBusy:
      return AccessFailure("EL0005: The resources are busy.", "87", physicalDevice);
    case Fault::kPermissionDenied:
      return AccessFailure("EL0007: You have no permission.", "88", physicalDevice);
    case Fault::kOutOfMemory:
      return MakeFailure(ACL_ERROR_RT_MEMORY_ALLOCATION,
                         "EL0004: Failed to allocate memory of device " + device + ".");
    case Fault::kEccError:
      // torch_npu looks for "time us= <digits>." in it
      return MakeFailure(ACL_ERROR_RT_HBM_MULTI_BIT_ECC_ERROR,
                         "HBM MULTI BIT ECC, Uncorrectable ECC, device_id=" + device +
                             ", event_id=0x80e01801, time us= " + MicrosecondsNow() + ".");
    case Fault::kDeviceLost:
      return MakeFailure(ACL_ERROR_RT_LOST_HEARTBEAT, "device " + device + " lost heartbeat, drvRetCode=33.");
    case Fault::kLinkDown:
      return MakeFailure(ACL_ERROR_RT_LINK_ERROR,
                         "device network link error: the links of device " + device + " are down.");
    case Fault::kVersionMismatch:
      return OpenFailure(
          "E30006: Failed to verify the OPP. tsd client wait response fail, device response code[1].",
          physicalDevice);
  }
  return MakeFailure(ACL_ERROR_RT_INTERNAL_ERROR, "an unknown fault");
}

}  // namespace simulator
