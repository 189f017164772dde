#pragma once

#include <vector>

#include "acl/acl_base.h"

namespace simulator {

class Device;

// The driver below the runtime: there is none, so it fails only where ASCENDENV_SIM_FAULT asks for it.

// Whether there is a driver that answers; whatever asks for devices comes through here.
aclError ReachDriver();

// Whether the device can be opened, as setting it does.
aclError OpenDevice(const Device& device);

// Whether a kernel may run on the device: what breaks the device in the middle of its work strikes here.
aclError StartKernel(Device& device);

// The physical ids of the devices of the machine.
std::vector<int32_t> DevicesOfTheMachine();

}  // namespace simulator
