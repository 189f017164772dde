#pragma once

#include <memory>
#include <mutex>

#include "acl/acl_base.h"

namespace simulator {

class Device;
class Stream;

struct Context {
  explicit Context(Device* owner) : device(owner) {}

  Device* const device;
  std::mutex mutex;
  std::shared_ptr<Stream> defaultStream;  // made when first used, guarded by `mutex`
};

// Makes the context the current one of this thread; nullptr leaves it without.
void Enter(std::shared_ptr<Context> context);

// The current context of this thread, if any.
std::shared_ptr<Context> Entered();

// The context to work in. A thread without one enters the default device, when aclInit was told of one;
// otherwise the call fails: a device has to be set first.
aclError CurrentContext(std::shared_ptr<Context>* context);

// -1: there is no default device.
void SetDefaultDevice(int32_t deviceId);

}  // namespace simulator
