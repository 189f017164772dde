#include "runtime/context.h"

#include <atomic>
#include <utility>

#include "acl/acl_rt.h"
#include "runtime/boundary.h"
#include "runtime/device.h"
#include "runtime/error.h"
#include "runtime/forked.h"
#include "runtime/handles.h"
#include "runtime/queue.h"

namespace simulator {
namespace {

std::atomic<int32_t> defaultDevice{-1};

std::shared_ptr<Context>& ThisThreads() {
  thread_local std::shared_ptr<Context> context;
  return context;
}

Handles<Context>& Created() {
  static auto* contexts = new Handles<Context>;
  return *contexts;
}

std::shared_ptr<Context> Find(aclrtContext handle) {
  for (const auto& device : Visible().devices) {
    if (device->Primary().get() == handle) return device->Primary();
  }
  return Created().Find(handle);
}

}  // namespace

void Enter(std::shared_ptr<Context> context) { ThisThreads() = std::move(context); }

std::shared_ptr<Context> Entered() { return ThisThreads(); }

aclError CurrentContext(std::shared_ptr<Context>* context) {
  if (const aclError error = RefuseIfForked()) return error;
  if (ThisThreads() == nullptr && defaultDevice >= 0) {
    if (const aclError error = aclrtSetDevice(defaultDevice)) return error;
  }
  *context = ThisThreads();
  if (*context != nullptr) return ACL_SUCCESS;
  return Fail(ACL_ERROR_RT_CONTEXT_NULL, "no device is set on this thread: call aclrtSetDevice first");
}

void SetDefaultDevice(int32_t deviceId) { defaultDevice = deviceId; }

}  // namespace simulator

using namespace simulator;

aclError aclrtCreateContext(aclrtContext* context, int32_t deviceId) {
  return Guarded("aclrtCreateContext", [&]() -> aclError {
    Device* device = nullptr;
    if (context == nullptr) return Fail(ACL_ERROR_INVALID_PARAM, "aclrtCreateContext: context is null");
    if (const aclError error = FindDevice(deviceId, &device)) return error;
    device->Retain();
    auto created = std::make_shared<Context>(device);
    Enter(created);
    *context = Created().Add(std::move(created));
    return ACL_SUCCESS;
  });
}

aclError aclrtDestroyContext(aclrtContext context) {
  return Guarded("aclrtDestroyContext", [&]() -> aclError {
    if (const aclError error = RefuseIfForked()) return error;
    const std::shared_ptr<Context> removed = Created().Remove(context);
    if (removed == nullptr)
      return Fail(ACL_ERROR_INVALID_PARAM, "aclrtDestroyContext: not a created context");
    StopDefaultStream(*removed);
    if (Entered() == removed) Enter(nullptr);
    if (removed->device->Release()) ReleaseResources(*removed->device);
    return ACL_SUCCESS;
  });
}

aclError aclrtSetCurrentContext(aclrtContext context) {
  return Guarded("aclrtSetCurrentContext", [&]() -> aclError {
    std::shared_ptr<Context> found = Find(context);
    if (found == nullptr) return Fail(ACL_ERROR_INVALID_PARAM, "aclrtSetCurrentContext: not a live context");
    Enter(std::move(found));
    return ACL_SUCCESS;
  });
}

aclError aclrtGetCurrentContext(aclrtContext* context) {
  return Guarded("aclrtGetCurrentContext", [&]() -> aclError {
    if (context == nullptr) return Fail(ACL_ERROR_INVALID_PARAM, "aclrtGetCurrentContext: context is null");
    std::shared_ptr<Context> current;
    if (const aclError error = CurrentContext(&current)) return error;
    *context = current.get();
    return ACL_SUCCESS;
  });
}
