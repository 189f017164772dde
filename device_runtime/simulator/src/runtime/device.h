#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "acl/acl_base.h"
#include "runtime/busy_clock.h"
#include "runtime/failure.h"

namespace simulator {

struct Context;

// One simulated device as this process sees it. Devices live as long as the process.
class Device {
 public:
  Device(int32_t id, int32_t physicalId);

  int32_t Id() const { return id_; }                  // counts the visible devices
  int32_t PhysicalId() const { return physicalId_; }  // counts all devices of the machine
  const std::shared_ptr<Context>& Primary() const { return primary_; }

  void Retain();
  bool Release();  // whether this was the last user
  bool Active() const;

  // A failed device says so to everybody who waits for it, until it is reset.
  void Break(Failure failure);
  void Recover();
  aclError Health() const;

  // The memory of the device is a budget, on an account that all processes share: blocks are host memory.
  bool Take(size_t bytes);
  void GiveBack(size_t bytes);
  size_t Free() const;

  BusyClock& Kernels() { return kernels_; }

 private:
  const int32_t id_;
  const int32_t physicalId_;
  const std::shared_ptr<Context> primary_;
  mutable std::mutex mutex_;
  int users_ = 0;
  std::optional<Failure> failure_;
  BusyClock kernels_;
};

struct VisibleDevices {
  std::vector<std::unique_ptr<Device>> devices;
  std::string problem;          // why there are none, in words; empty when all is well
  aclError code = ACL_SUCCESS;  // what counting the devices fails with then
};

const VisibleDevices& Visible();

// The device with this id; fails with a message when there is none.
aclError FindDevice(int64_t id, Device** device);

// The visible device with this physical id; nullptr when there is none.
Device* VisibleDevice(int32_t physicalId);

// The physical id of the device that is set on this thread, if any is.
ACL_FUNC_VISIBILITY std::optional<int32_t> CurrentPhysicalDevice();

// Which devices a value of ASCEND_RT_VISIBLE_DEVICES shows. As in CANN, the list ends, without an error, at
// the first thing that is neither a device nor a comma between two, or when it has as many entries as there
// are devices; a list that is not ascending is an error (nothing is returned).
ACL_FUNC_VISIBILITY std::optional<std::vector<int32_t>> ParseVisible(const char* value, uint32_t devices);

// Frees all that belongs to the device: streams first, then memory.
void ReleaseResources(Device& device);

}  // namespace simulator
