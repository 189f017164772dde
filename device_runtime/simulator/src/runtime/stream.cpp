#include "runtime/stream.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>

#include "acl/acl_rt.h"
#include "runtime/activity.h"
#include "runtime/boundary.h"
#include "runtime/capture.h"
#include "runtime/context.h"
#include "runtime/device.h"
#include "runtime/driver.h"
#include "runtime/error.h"
#include "runtime/handles.h"
#include "runtime/queue.h"

namespace simulator {
namespace {

constexpr Milliseconds kPatience = 10'000;
constexpr uint32_t kMostStreams = 2048;  // of a device: MAX_STREAM_NUM_CLOUD of the CANN runtime

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

aclError IsCaptured(const char* call) {
  return Fail(ACL_ERROR_RT_STREAM_CAPTURED, std::string(call) + ": not while the stream is captured");
}

}  // namespace

bool IsDefault(const Stream& stream) {
  const std::lock_guard<std::mutex> lock(stream.In()->mutex);
  return stream.In()->defaultStream.get() == &stream;
}

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

bool AbortStreams(const Device& device, const Failure& why, Milliseconds timeout) {
  auto streams = Streams().All();
  const auto isOther = [&](const auto& stream) { return &stream->Owner() != &device; };
  streams.erase(std::remove_if(streams.begin(), streams.end(), isOther), streams.end());
  for (const auto& stream : streams) stream->BeginAbort(why);  // all first: they may wait for each other
  bool all = true;
  for (const auto& stream : streams) all = stream->EndAbort(timeout) && all;
  return all;
}

bool StopStreams(const Device& device) {
  bool all = true;
  for (const auto& stream : Streams().All()) {
    if (&stream->Owner() != &device) continue;
    Streams().Remove(stream.get());
    if (const auto capture = stream->CapturedBy()) capture->Abandon(*stream);
    TakeDefaultStream(*stream->In());
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

aclError EnqueueKernel(aclrtStream handle, std::function<aclError()> kernel, std::string_view name) {
  std::shared_ptr<Stream> stream;
  if (const aclError error = FindStream(handle, &stream)) return error;
  Task task = [kernel = std::move(kernel)] {
    Device& device = *Entered()->device;
    if (const aclError broken = StartKernel(device)) return broken;
    const Busy busy(device.Kernels());
    return kernel();
  };
  return stream->Append(std::move(task), Stream::When::kUnlessFailed, {kKernel, name});
}

aclError FailOnStream(aclrtStream handle, aclError code, const std::string& message) {
  const auto fail = [=] { return Fail(code, message); };
  if (OnTaskQueue() && EnqueueKernel(handle, fail) == ACL_SUCCESS) return ACL_SUCCESS;
  return FailOperator(code, message);
}

aclError Synchronize(aclrtStream handle) { return aclrtSynchronizeStreamWithTimeout(handle, -1); }

}  // namespace simulator

using namespace simulator;

aclError aclrtCreateStream(aclrtStream* stream) { return aclrtCreateStreamWithConfig(stream, 0, 0); }

aclError aclrtCreateStreamWithConfig(aclrtStream* stream, uint32_t priority, uint32_t flags) {
  return Guarded("aclrtCreateStreamWithConfig", [&]() -> aclError {
    if (stream == nullptr) return Fail(ACL_ERROR_INVALID_PARAM, "aclrtCreateStream: stream is null");
    uint32_t available = 0;
    if (const aclError error = aclrtGetStreamAvailableNum(&available)) return error;
    if (available == 0) return Fail(ACL_ERROR_RT_NO_STREAM_RESOURCE, "the device has no stream left");
    auto created = std::make_shared<Stream>(Entered());
    created->Change([=](StreamSettings& settings) {
      settings.priority = priority;
      settings.flags = flags;
    });
    *stream = Streams().Add(std::move(created));
    return ACL_SUCCESS;
  });
}

aclError aclrtGetStreamAvailableNum(uint32_t* count) {
  return Guarded("aclrtGetStreamAvailableNum", [&]() -> aclError {
    if (count == nullptr) return Fail(ACL_ERROR_INVALID_PARAM, "aclrtGetStreamAvailableNum: no result");
    std::shared_ptr<Context> context;
    if (const aclError error = CurrentContext(&context)) return error;
    const auto streams = Streams().All();
    const auto used = std::count_if(streams.begin(), streams.end(),
                                    [&](const auto& stream) { return &stream->Owner() == context->device; });
    *count = kMostStreams - static_cast<uint32_t>(std::min<ptrdiff_t>(used, kMostStreams));
    return ACL_SUCCESS;
  });
}

aclError aclrtDestroyStream(aclrtStream handle) {
  return Guarded("aclrtDestroyStream", [&]() -> aclError {
    const std::shared_ptr<Stream> stream = Streams().Find(handle);
    if (stream == nullptr) return NotAStream("aclrtDestroyStream");
    if (stream->CapturedBy() != nullptr) return IsCaptured("aclrtDestroyStream");
    stream->Drain();
    return aclrtDestroyStreamForce(handle);
  });
}

aclError aclrtDestroyStreamForce(aclrtStream handle) {
  return Guarded("aclrtDestroyStreamForce", [&]() -> aclError {
    const std::shared_ptr<Stream> stream = Streams().Find(handle);
    if (stream != nullptr && stream->CapturedBy() != nullptr) return IsCaptured("aclrtDestroyStreamForce");
    if (Streams().Remove(handle) == nullptr) return NotAStream("aclrtDestroyStreamForce");
    stream->Stop(kPatience);
    return ACL_SUCCESS;
  });
}

aclError aclrtSynchronizeStream(aclrtStream handle) { return aclrtSynchronizeStreamWithTimeout(handle, -1); }

aclError aclrtSynchronizeStreamWithTimeout(aclrtStream handle, int32_t milliseconds) {
  return Guarded("aclrtSynchronizeStreamWithTimeout", [&]() -> aclError {
    const HostCallScope scope("aclrtSynchronizeStream");
    std::shared_ptr<Stream> stream;
    if (const aclError error = FindStream(handle, &stream)) return error;
    return stream->Wait(milliseconds);
  });
}

aclError aclrtStreamQuery(aclrtStream handle, aclrtStreamStatus* status) {
  return Guarded("aclrtStreamQuery", [&]() -> aclError {
    if (status == nullptr) return Fail(ACL_ERROR_INVALID_PARAM, "aclrtStreamQuery: status is null");
    std::shared_ptr<Stream> stream;
    if (const aclError error = FindStream(handle, &stream)) return error;
    if (stream->CapturedBy() != nullptr) return IsCaptured("aclrtStreamQuery");
    *status = stream->Idle() ? ACL_STREAM_STATUS_COMPLETE : ACL_STREAM_STATUS_NOT_READY;
    return ACL_SUCCESS;
  });
}

aclError aclrtStreamGetId(aclrtStream handle, int32_t* streamId) {
  return Guarded("aclrtStreamGetId", [&]() -> aclError {
    if (streamId == nullptr) return Fail(ACL_ERROR_INVALID_PARAM, "aclrtStreamGetId: streamId is null");
    std::shared_ptr<Stream> stream;
    if (const aclError error = FindStream(handle, &stream)) return error;
    *streamId = stream->Id();
    return ACL_SUCCESS;
  });
}

aclError aclrtSetStreamFailureMode(aclrtStream handle, uint64_t mode) {
  return Guarded("aclrtSetStreamFailureMode", [&]() -> aclError {
    if (handle == nullptr) {
      return Fail(ACL_ERROR_INVALID_PARAM, "aclrtSetStreamFailureMode: the default stream always continues");
    }
    std::shared_ptr<Stream> stream;
    if (const aclError error = FindStream(handle, &stream)) return error;
    stream->StopOnFailure(mode == ACL_STOP_ON_FAILURE);
    return ACL_SUCCESS;
  });
}
