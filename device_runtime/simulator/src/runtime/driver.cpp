#include "runtime/driver.h"

#include "runtime/configuration.h"
#include "runtime/device.h"
#include "runtime/failure.h"
#include "runtime/faults.h"

namespace simulator {

aclError ReachDriver() {
  for (const Fault fault :
       {Fault::kDriverMissing, Fault::kPermissionDenied, Fault::kDeviceBusy, Fault::kNoDevice}) {
    if (HasFault(fault, kEveryDevice)) return Report(FailureBy(fault, kEveryDevice));
  }
  return ACL_SUCCESS;
}

aclError OpenDevice(const Device& device) {
  const int32_t id = device.PhysicalId();
  for (const Fault fault : {Fault::kPermissionDenied, Fault::kDeviceBusy, Fault::kVersionMismatch}) {
    if (HasFault(fault, id)) return Report(FailureBy(fault, id));
  }
  return ACL_SUCCESS;
}

aclError StartKernel(Device& device) {
  for (const Fault fault : {Fault::kEccError, Fault::kDeviceLost}) {
    if (const auto failure = FaultOf(fault, device.PhysicalId())) {
      device.Break(*failure);
      return Report(*failure);
    }
  }
  return ACL_SUCCESS;
}

std::vector<int32_t> DevicesOfTheMachine() {
  std::vector<int32_t> present;
  for (uint32_t id = 0; id < TheConfiguration().devices; ++id) {
    const auto physicalId = static_cast<int32_t>(id);
    if (!HasFault(Fault::kNoDevice, physicalId)) present.push_back(physicalId);
  }
  return present;
}

}  // namespace simulator
