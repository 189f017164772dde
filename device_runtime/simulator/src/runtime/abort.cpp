// What a program does to go on after an error of the device without a new process: it aborts the tasks, and
// has damaged memory repaired.
#include <cstdint>
#include <string>

#include "acl/acl_rt.h"
#include "runtime/boundary.h"
#include "runtime/device.h"
#include "runtime/error.h"
#include "runtime/failure.h"
#include "runtime/queue.h"

using namespace simulator;

namespace {

constexpr Milliseconds kPatience = 60'000;  // STREAM_ABORT_TIMEOUT of the CANN runtime

aclError TooSlow(const char* call) {
  return Fail(ACL_ERROR_RT_TASK_TIMEOUT, std::string(call) + ": a task does not end");
}

}  // namespace

aclError aclrtStreamAbort(aclrtStream handle) {
  constexpr const char* kCall = "aclrtStreamAbort";
  return Guarded(kCall, [&]() -> aclError {
    if (handle == nullptr)
      return Fail(ACL_ERROR_INVALID_PARAM, "aclrtStreamAbort: not of the default stream");
    std::shared_ptr<Stream> stream;
    if (const aclError error = FindStream(handle, &stream)) return error;
    if (stream.get() == Stream::Running()) return Fail(ACL_ERROR_RT_STREAM_CONTEXT, "a task aborts itself");
    stream->BeginAbort(MakeFailure(ACL_ERROR_RT_STREAM_ABORT, "the tasks of the stream were aborted"));
    return stream->EndAbort(kPatience) ? ACL_SUCCESS : TooSlow(kCall);
  });
}

aclError aclrtDeviceTaskAbort(int32_t id, uint32_t milliseconds) {
  constexpr const char* kCall = "aclrtDeviceTaskAbort";
  return Guarded(kCall, [&]() -> aclError {
    Device* device = nullptr;
    if (const aclError error = FindDevice(id, &device)) return error;
    if (!device->Active())
      return Fail(ACL_ERROR_RT_CONTEXT_NULL, "aclrtDeviceTaskAbort: the device is not in use");
    if (Stream::Running() != nullptr) return Fail(ACL_ERROR_RT_STREAM_CONTEXT, "a task aborts its device");
    // torch_npu looks for the reason in the message.
    const auto why = MakeFailure(ACL_ERROR_RT_DEVICE_TASK_ABORT,
                                 "the tasks of the device were aborted, reason=[device task abort]");
    const Milliseconds timeout = milliseconds == 0 ? -1 : static_cast<Milliseconds>(milliseconds);
    return AbortStreams(*device, why, timeout) ? ACL_SUCCESS : TooSlow(kCall);
  });
}

// No memory is ever damaged here: an error on request strikes a device, not an address.
aclError aclrtGetMemUceInfo(int32_t id, aclrtMemUceInfo* found, size_t capacity, size_t* count) {
  return Guarded("aclrtGetMemUceInfo", [&]() -> aclError {
    if (found == nullptr || capacity == 0 || count == nullptr) {
      return Fail(ACL_ERROR_INVALID_PARAM, "aclrtGetMemUceInfo: no place for the result");
    }
    Device* device = nullptr;
    if (const aclError error = FindDevice(id, &device)) return error;
    *count = 0;
    return ACL_SUCCESS;
  });
}

aclError aclrtMemUceRepair(int32_t id, aclrtMemUceInfo* damaged, size_t count) {
  return Guarded("aclrtMemUceRepair", [&]() -> aclError {
    Device* device = nullptr;
    if (const aclError error = FindDevice(id, &device)) return error;
    if (damaged == nullptr || count == 0) {
      return Fail(ACL_ERROR_INVALID_PARAM, "aclrtMemUceRepair: nothing to repair");
    }
    return Fail(ACL_ERROR_INVALID_PARAM, "aclrtMemUceRepair: the device reported no such damage");
  });
}
