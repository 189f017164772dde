#include "runtime/device.h"

#include <pthread.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>

#include "acl/acl_rt.h"
#include "runtime/activity.h"
#include "runtime/blocks.h"
#include "runtime/boundary.h"
#include "runtime/configuration.h"
#include "runtime/context.h"
#include "runtime/driver.h"
#include "runtime/error.h"
#include "runtime/faults.h"
#include "runtime/forked.h"
#include "runtime/ledger.h"
#include "runtime/queue.h"

namespace simulator {
namespace {

VisibleDevices NoDevices(aclError code, std::string problem) {
  VisibleDevices none;
  none.problem = std::move(problem);
  none.code = code;
  return none;
}

VisibleDevices Look() {
  const std::string& problem = TheConfiguration().problem;
  if (!problem.empty()) return NoDevices(ACL_ERROR_RT_INVALID_DEVICEID, problem);
  const char* value = std::getenv("ASCEND_RT_VISIBLE_DEVICES");
  const std::vector<int32_t> present = DevicesOfTheMachine();
  const auto shown = ParseVisible(value, static_cast<uint32_t>(present.size()));
  const std::string set = std::string("ASCEND_RT_VISIBLE_DEVICES=") + (value == nullptr ? "" : value);
  if (!shown) {
    return NoDevices(ACL_ERROR_RT_NO_DEVICE, set + " must be ascending and without duplicates");
  }
  if (shown->empty() && !present.empty()) {
    return NoDevices(ACL_ERROR_RT_NO_DEVICE, set + " does not begin with one of the devices [0, " +
                                                 std::to_string(present.size()) + ")");
  }
  VisibleDevices visible;
  for (const int32_t index : *shown) {
    const auto id = static_cast<int32_t>(visible.devices.size());
    visible.devices.push_back(std::make_unique<Device>(id, present[static_cast<size_t>(index)]));
  }
  return visible;
}

// The number at the start of the text, which is cut off; -1 when there is none, or none so small.
int64_t TakeNumber(std::string_view* text) {
  const size_t digits = std::min(text->find_first_not_of("0123456789"), text->size());
  const std::string number(text->substr(0, digits));
  text->remove_prefix(digits);
  return number.empty() || number.size() > 9 ? -1 : std::stol(number);
}

}  // namespace

Device::Device(int32_t id, int32_t physicalId)
    : id_(id), physicalId_(physicalId), primary_(std::make_shared<Context>(this)) {}

void Device::Retain() {
  NoteDeviceUse();
  const std::lock_guard<std::mutex> lock(mutex_);
  if (users_ == 0) AttachTo(physicalId_);
  ++users_;
}

bool Device::Release() {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (users_ == 0) return false;
  --users_;
  if (users_ == 0) DetachFrom(physicalId_);
  return users_ == 0;
}

bool Device::Active() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return users_ > 0;
}

void Device::Break(Failure failure) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (!failure_) failure_ = std::move(failure);
}

void Device::Recover() {
  const std::lock_guard<std::mutex> lock(mutex_);
  failure_.reset();
}

aclError Device::Health() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return failure_ ? Report(*failure_) : ACL_SUCCESS;
}

bool Device::Take(size_t bytes) {
  if (FaultOf(Fault::kOutOfMemory, physicalId_)) return false;
  return TakeMemory(physicalId_, bytes, TheConfiguration().memory);
}

void Device::GiveBack(size_t bytes) { GiveBackMemory(physicalId_, bytes); }

// A process that was told of less memory than another may find more taken than it believes there is.
size_t Device::Free() const {
  const size_t limit = TheConfiguration().memory;
  return limit - std::min<size_t>(limit, TakenMemory(physicalId_));
}

const VisibleDevices& Visible() {
  static const auto* visible = new VisibleDevices(Look());
  return *visible;
}

aclError FindDevice(int64_t id, Device** device) {
  if (const aclError error = RefuseIfForked()) return error;
  if (const aclError error = ReachDriver()) return error;
  const VisibleDevices& visible = Visible();
  if (!visible.problem.empty()) return Fail(ACL_ERROR_RT_INVALID_DEVICEID, visible.problem);
  if (id < 0 || id >= static_cast<int64_t>(visible.devices.size())) {
    return Fail(ACL_ERROR_RT_INVALID_DEVICEID, "there is no device " + std::to_string(id) + ", only " +
                                                   std::to_string(visible.devices.size()) +
                                                   " simulated devices are visible");
  }
  *device = visible.devices[static_cast<size_t>(id)].get();
  return ACL_SUCCESS;
}

Device* VisibleDevice(int32_t physicalId) {
  for (const auto& device : Visible().devices) {
    if (device->PhysicalId() == physicalId) return device.get();
  }
  return nullptr;
}

std::optional<std::vector<int32_t>> ParseVisible(const char* value, uint32_t devices) {
  std::vector<int32_t> shown;
  if (value == nullptr) {
    for (uint32_t id = 0; id < devices; ++id) shown.push_back(static_cast<int32_t>(id));
    return shown;
  }
  std::string_view rest(value);
  while (shown.size() < devices) {
    const int64_t id = TakeNumber(&rest);
    if (id < 0 || id >= static_cast<int64_t>(devices)) break;
    if (!shown.empty() && id <= shown.back()) return std::nullopt;
    shown.push_back(static_cast<int32_t>(id));
    if (rest.empty() || rest.front() != ',') break;
    rest.remove_prefix(1);
  }
  return shown;
}

void ReleaseResources(Device& device) {
  device.Recover();
  // Memory under a task that does not end cannot be taken away.
  if (StopStreams(device)) FreeBlocks(device);
}

std::optional<int32_t> CurrentPhysicalDevice() {
  const std::shared_ptr<Context> context = Entered();
  if (context == nullptr) return std::nullopt;
  return context->device->PhysicalId();
}

bool OnTaskQueue() {
  std::array<char, 16> name{};
  return pthread_getname_np(pthread_self(), name.data(), name.size()) == 0 &&
         std::string_view(name.data()) == "acl_thread";
}

aclError FailOperator(aclError code, std::string message) {
  if (!OnTaskQueue()) return Fail(code, std::move(message));
  Record(code, std::move(message));
  const std::optional<Failure> failure = FailureOf(code);
  const std::shared_ptr<Context> context = Entered();
  if (failure && context != nullptr) context->device->Break(*failure);
  return failure ? Report(*failure) : code;
}

namespace {

aclError NotSet(const char* call, int32_t deviceId) {
  return Fail(ACL_ERROR_RT_CONTEXT_RELEASE_ERROR, std::string(call) + ": device " + std::to_string(deviceId) +
                                                      " is not set, or was reset already");
}

}  // namespace
}  // namespace simulator

using namespace simulator;

aclError aclrtGetDeviceCount(uint32_t* count) {
  return Guarded("aclrtGetDeviceCount", [&]() -> aclError {
    if (count == nullptr) return Fail(ACL_ERROR_INVALID_PARAM, "aclrtGetDeviceCount: count is null");
    *count = 0;
    if (const aclError error = ReachDriver()) return error;
    *count = static_cast<uint32_t>(Visible().devices.size());
    if (!Visible().problem.empty()) return Fail(Visible().code, Visible().problem);
    if (*count == 0) return Fail(ACL_ERROR_RT_NO_DEVICE, "no simulated device is visible");
    return ACL_SUCCESS;
  });
}

aclError aclrtSetDevice(int32_t deviceId) {
  return Guarded("aclrtSetDevice", [&]() -> aclError {
    Device* device = nullptr;
    if (const aclError error = FindDevice(deviceId, &device)) return error;
    if (const aclError error = OpenDevice(*device)) return error;
    device->Retain();
    Enter(device->Primary());
    return ACL_SUCCESS;
  });
}

aclError aclrtGetDevice(int32_t* deviceId) {
  return Guarded("aclrtGetDevice", [&]() -> aclError {
    if (deviceId == nullptr) return Fail(ACL_ERROR_INVALID_PARAM, "aclrtGetDevice: deviceId is null");
    const std::shared_ptr<Context> context = Entered();
    if (context == nullptr) return Fail(ACL_ERROR_RT_CONTEXT_NULL, "no device is set on this thread");
    *deviceId = context->device->Id();
    return ACL_SUCCESS;
  });
}

aclError aclrtResetDevice(int32_t deviceId) {
  return Guarded("aclrtResetDevice", [&]() -> aclError {
    Device* device = nullptr;
    if (const aclError error = FindDevice(deviceId, &device)) return error;
    if (!device->Active()) return NotSet("aclrtResetDevice", deviceId);
    if (device->Release()) ReleaseResources(*device);
    return ACL_SUCCESS;
  });
}

aclError aclrtResetDeviceForce(int32_t deviceId) {
  return Guarded("aclrtResetDeviceForce", [&]() -> aclError {
    Device* device = nullptr;
    if (const aclError error = FindDevice(deviceId, &device)) return error;
    if (!device->Active()) return NotSet("aclrtResetDeviceForce", deviceId);
    while (device->Active()) device->Release();
    ReleaseResources(*device);
    return ACL_SUCCESS;
  });
}

aclError aclrtGetPrimaryCtxState(int32_t deviceId, uint32_t* flags, int32_t* active) {
  return Guarded("aclrtGetPrimaryCtxState", [&]() -> aclError {
    Device* device = nullptr;
    if (const aclError error = FindDevice(deviceId, &device)) return error;
    if (flags != nullptr) *flags = 0;
    if (active != nullptr) *active = device->Active() ? 1 : 0;
    return ACL_SUCCESS;
  });
}

aclError aclrtSynchronizeDevice() { return aclrtSynchronizeDeviceWithTimeout(-1); }

aclError aclrtSynchronizeDeviceWithTimeout(int32_t milliseconds) {
  const HostCallScope scope("aclrtSynchronizeDevice");
  return Guarded("aclrtSynchronizeDeviceWithTimeout", [&]() -> aclError {
    std::shared_ptr<Context> context;
    if (const aclError error = CurrentContext(&context)) return error;
    if (const aclError error = SynchronizeStreams(*context->device, milliseconds)) return error;
    return context->device->Health();
  });
}
