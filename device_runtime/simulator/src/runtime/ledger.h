#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "acl/acl_base.h"

namespace simulator {

// The account of the memory of the machine's devices, which all its processes keep together. Physical ids
// count the devices. The share of a process that ends, however it ends, is free again at once.

// Marks that this process uses the device, or no longer does.
void AttachTo(int32_t physicalDevice);
void DetachFrom(int32_t physicalDevice);

// Puts the bytes on this process's account; false when the account of all would exceed the limit.
bool TakeMemory(int32_t physicalDevice, uint64_t bytes, uint64_t limit);
void GiveBackMemory(int32_t physicalDevice, uint64_t bytes);

// What all live processes have taken of the device.
uint64_t TakenMemory(int32_t physicalDevice);

// What one process has of one device.
struct Use {
  int32_t process;  // 0 when this process cannot see it, as in another container
  int32_t physicalDevice;
  uint64_t bytes;
};

// Of every live process that uses a device. All functions here fail by an exception that says what is wrong
// with the place of the account.
ACL_FUNC_VISIBILITY std::vector<Use> LiveUses();

}  // namespace simulator
