#include "runtime/stream.h"

#include <string>
#include <utility>

#include "acl/acl_rt.h"
#include "runtime/context.h"
#include "runtime/device.h"
#include "runtime/driver.h"
#include "runtime/error.h"
#include "runtime/handles.h"
#include "runtime/queue.h"

namespace simulator {
namespace {

constexpr Milliseconds kPatience = 10'000;

Handles<Stream>& Streams() {
  static auto* streams = new Handles<Stream>;
  return *streams;
}

std::shared_ptr<Stream> DefaultStream(Context& context, const std::shared_ptr<Context>& shared) {
  const std::lock_guard<std::mutex> lock(context.mutex);
  if (context.defaultStream == nullptr) {
    context.defaultStream = std::make_shared<Stream>(shared);
    Streams().Add(context.defaultStream);
  }
  return context.defaultStream;
}

// A stream and the context it is the default of hold each other, so this is also what lets them go.
std::shared_ptr<Stream> TakeDefaultStream(Context& context) {
  const std::lock_guard<std::mutex> lock(context.mutex);
  return std::exchange(context.defaultStream, nullptr);
}

aclError NotAStream(const char* call) {
  return Fail(ACL_ERROR_RT_INVALID_HANDLE, std::string(call) + ": not a live stream");
}

}  // namespace

aclError FindStream(aclrtStream handle, std::shared_ptr<Stream>* stream) {
  if (handle != nullptr) {
    *stream = Streams().Find(handle);
    return *stream == nullptr ? NotAStream("stream") : ACL_SUCCESS;
  }
  std::shared_ptr<Context> context;
  if (const aclError error = CurrentContext(&context)) return error;
  *stream = DefaultStream(*context, context);
  return ACL_SUCCESS;
}

aclError SynchronizeStreams(const Device& device, Milliseconds timeout) {
  aclError first = ACL_SUCCESS;
  std::optional<Failure> failure;
  for (const auto& stream : Streams().All()) {
    if (&stream->Owner() != &device) continue;
    const aclError error = stream->Wait(timeout);
    if (first != ACL_SUCCESS || error == ACL_SUCCESS) continue;
    first = error;
    failure = FailureOf(error);
  }
  return failure ? Report(*failure) : ACL_SUCCESS;
}

bool StopStreams(const Device& device) {
  bool all = true;
  for (const auto& stream : Streams().All()) {
    if (&stream->Owner() != &device) continue;
    Streams().Remove(stream.get());
    TakeDefaultStream(stream->In());
    all = stream->Stop(kPatience) && all;
  }
  return all;
}

void StopDefaultStream(Context& context) {
  const std::shared_ptr<Stream> stream = TakeDefaultStream(context);
  if (stream == nullptr) return;
  stream->Drain();
  Streams().Remove(stream.get());
  stream->Stop(kPatience);
}

void DrainStreams(const Device& device) {
  for (const auto& stream : Streams().All()) {
    if (&stream->Owner() == &device) stream->Drain();
  }
}

aclError Enqueue(aclrtStream handle, std::function<aclError()> task) {
  std::shared_ptr<Stream> stream;
  if (const aclError error = FindStream(handle, &stream)) return error;
  return stream->Append(std::move(task));
}

aclError EnqueueKernel(aclrtStream handle, std::function<aclError()> kernel) {
  return Enqueue(handle, [kernel = std::move(kernel)] {
    const aclError broken = StartKernel(*Entered()->device);
    return broken == ACL_SUCCESS ? kernel() : broken;
  });
}

aclError Synchronize(aclrtStream handle) { return aclrtSynchronizeStreamWithTimeout(handle, -1); }

}  // namespace simulator

using namespace simulator;

aclError aclrtCreateStream(aclrtStream* stream) { return aclrtCreateStreamWithConfig(stream, 0, 0); }

aclError aclrtCreateStreamWithConfig(aclrtStream* stream, uint32_t, uint32_t) {
  if (stream == nullptr) return Fail(ACL_ERROR_INVALID_PARAM, "aclrtCreateStream: stream is null");
  std::shared_ptr<Context> context;
  if (const aclError error = CurrentContext(&context)) return error;
  *stream = Streams().Add(std::make_shared<Stream>(std::move(context)));
  return ACL_SUCCESS;
}

aclError aclrtDestroyStream(aclrtStream handle) {
  const std::shared_ptr<Stream> stream = Streams().Find(handle);
  if (stream == nullptr) return NotAStream("aclrtDestroyStream");
  stream->Drain();
  return aclrtDestroyStreamForce(handle);
}

aclError aclrtDestroyStreamForce(aclrtStream handle) {
  const std::shared_ptr<Stream> stream = Streams().Remove(handle);
  if (stream == nullptr) return NotAStream("aclrtDestroyStreamForce");
  stream->Stop(kPatience);
  return ACL_SUCCESS;
}

aclError aclrtSynchronizeStream(aclrtStream handle) { return aclrtSynchronizeStreamWithTimeout(handle, -1); }

aclError aclrtSynchronizeStreamWithTimeout(aclrtStream handle, int32_t milliseconds) {
  std::shared_ptr<Stream> stream;
  if (const aclError error = FindStream(handle, &stream)) return error;
  return stream->Wait(milliseconds);
}

aclError aclrtStreamQuery(aclrtStream handle, aclrtStreamStatus* status) {
  if (status == nullptr) return Fail(ACL_ERROR_INVALID_PARAM, "aclrtStreamQuery: status is null");
  std::shared_ptr<Stream> stream;
  if (const aclError error = FindStream(handle, &stream)) return error;
  *status = stream->Idle() ? ACL_STREAM_STATUS_COMPLETE : ACL_STREAM_STATUS_NOT_READY;
  return ACL_SUCCESS;
}

aclError aclrtStreamGetId(aclrtStream handle, int32_t* streamId) {
  if (streamId == nullptr) return Fail(ACL_ERROR_INVALID_PARAM, "aclrtStreamGetId: streamId is null");
  std::shared_ptr<Stream> stream;
  if (const aclError error = FindStream(handle, &stream)) return error;
  *streamId = stream->Id();
  return ACL_SUCCESS;
}

aclError aclrtSetStreamFailureMode(aclrtStream handle, uint64_t mode) {
  if (handle == nullptr) {
    return Fail(ACL_ERROR_INVALID_PARAM, "aclrtSetStreamFailureMode: the default stream always continues");
  }
  std::shared_ptr<Stream> stream;
  if (const aclError error = FindStream(handle, &stream)) return error;
  stream->StopOnFailure(mode == ACL_STOP_ON_FAILURE);
  return ACL_SUCCESS;
}

aclError aclrtSetStreamAttribute(aclrtStream handle, aclrtStreamAttr attribute, aclrtStreamAttrValue* value) {
  if (value == nullptr) return Fail(ACL_ERROR_INVALID_PARAM, "aclrtSetStreamAttribute: value is null");
  switch (attribute) {
    case ACL_STREAM_ATTR_FAILURE_MODE:
      return aclrtSetStreamFailureMode(handle, value->failureMode);
    case ACL_STREAM_ATTR_FLOAT_OVERFLOW_CHECK:
      return aclrtSetStreamOverflowSwitch(handle, value->overflowSwitch);
    default:
      return Refuse("aclrtSetStreamAttribute(" + std::to_string(attribute) + ")");
  }
}
