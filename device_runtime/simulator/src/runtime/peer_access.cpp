#include <cstdint>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>

#include "acl/acl_rt.h"
#include "runtime/boundary.h"
#include "runtime/context.h"
#include "runtime/device.h"
#include "runtime/error.h"

// Which devices may reach the memory of which: kept, so that it can be asked for. Simulated devices share the
// memory of the host, so copies between them work either way.

namespace simulator {
namespace {

class PeerAccess {
 public:
  void Set(int32_t from, int32_t to, bool open) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (open) {
      open_.emplace(from, to);
    } else {
      open_.erase({from, to});
    }
  }

  bool Get(int32_t from, int32_t to) const {
    const std::lock_guard<std::mutex> lock(mutex_);
    return open_.count({from, to}) > 0;
  }

 private:
  mutable std::mutex mutex_;
  std::set<std::pair<int32_t, int32_t>> open_;  // a visible device, and the physical id of its peer
};

PeerAccess& ThePeerAccess() {
  static auto* access = new PeerAccess;
  return *access;
}

aclError SetAccess(const char* call, int32_t peerId, bool open) {
  std::shared_ptr<Context> context;
  if (const aclError error = CurrentContext(&context)) return error;
  const int32_t own = context->device->Id();
  if (own == peerId) {
    return Fail(ACL_ERROR_INVALID_PARAM, std::string(call) + ": a device is no peer of itself");
  }
  Device* peer = nullptr;
  if (const aclError error = FindDevice(peerId, &peer)) return error;
  ThePeerAccess().Set(own, peer->PhysicalId(), open);
  return ACL_SUCCESS;
}

}  // namespace
}  // namespace simulator

using namespace simulator;

aclError aclrtDeviceCanAccessPeer(int32_t* can, int32_t deviceId, int32_t peerId) {
  return Guarded("aclrtDeviceCanAccessPeer", [&]() -> aclError {
    if (can == nullptr) return Fail(ACL_ERROR_INVALID_PARAM, "aclrtDeviceCanAccessPeer: no result");
    if (deviceId == peerId) {
      return Fail(ACL_ERROR_INVALID_PARAM, "aclrtDeviceCanAccessPeer: a device is no peer of itself");
    }
    Device* device = nullptr;
    if (const aclError error = FindDevice(deviceId, &device)) return error;
    if (const aclError error = FindDevice(peerId, &device)) return error;
    *can = 1;
    return ACL_SUCCESS;
  });
}

aclError aclrtDeviceEnablePeerAccess(int32_t peerId, uint32_t flags) {
  return Guarded("aclrtDeviceEnablePeerAccess", [&]() -> aclError {
    if (flags != 0) {
      return Fail(ACL_ERROR_FEATURE_UNSUPPORTED, "aclrtDeviceEnablePeerAccess: there are no flags yet");
    }
    return SetAccess("aclrtDeviceEnablePeerAccess", peerId, true);
  });
}

aclError aclrtDeviceDisablePeerAccess(int32_t peerId) {
  return Guarded("aclrtDeviceDisablePeerAccess",
                 [&] { return SetAccess("aclrtDeviceDisablePeerAccess", peerId, false); });
}

// As in CANN, where this one call takes the physical id of the peer.
aclError aclrtDevicePeerAccessStatus(int32_t deviceId, int32_t peerPhysicalId, int32_t* status) {
  return Guarded("aclrtDevicePeerAccessStatus", [&]() -> aclError {
    if (status == nullptr) return Fail(ACL_ERROR_INVALID_PARAM, "aclrtDevicePeerAccessStatus: no result");
    Device* device = nullptr;
    if (const aclError error = FindDevice(deviceId, &device)) return error;
    if (peerPhysicalId < 0) {
      return Fail(ACL_ERROR_RT_PARAM_INVALID, "aclrtDevicePeerAccessStatus: not a physical id");
    }
    *status = ThePeerAccess().Get(deviceId, peerPhysicalId) ? 1 : 0;
    return ACL_SUCCESS;
  });
}
