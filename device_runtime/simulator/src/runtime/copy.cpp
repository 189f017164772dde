#include "runtime/copy.h"

#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "runtime/activity.h"
#include "runtime/blocks.h"
#include "runtime/boundary.h"
#include "runtime/capture.h"
#include "runtime/context.h"
#include "runtime/device.h"
#include "runtime/error.h"
#include "runtime/memory.h"
#include "runtime/queue.h"
#include "runtime/stream.h"

namespace simulator {

Route RouteOf(aclrtMemcpyKind kind) {
  switch (kind) {
    case ACL_MEMCPY_HOST_TO_HOST:
      return {Side::kHost, Side::kHost};
    case ACL_MEMCPY_HOST_TO_DEVICE:
    case ACL_MEMCPY_HOST_TO_BUF_TO_DEVICE:
      return {Side::kDevice, Side::kHost};
    case ACL_MEMCPY_DEVICE_TO_HOST:
      return {Side::kHost, Side::kDevice};
    case ACL_MEMCPY_DEVICE_TO_DEVICE:
    case ACL_MEMCPY_INNER_DEVICE_TO_DEVICE:
    case ACL_MEMCPY_INTER_DEVICE_TO_DEVICE:
      return {Side::kDevice, Side::kDevice};
    case ACL_MEMCPY_DEFAULT:
      break;
  }
  return {};
}

bool LiesOn(const void* pointer, size_t bytes, Side side) {
  const bool startsOnDevice = IsDeviceMemory(pointer, 1);
  if (side == Side::kDevice || startsOnDevice) return IsDeviceMemory(pointer, bytes);
  return true;
}

bool IsPageable(const void* pointer, size_t bytes) {
  return !IsDeviceMemory(pointer, bytes) && !IsPinnedMemory(pointer, bytes);
}

aclError AllowNow(const char* call) {
  std::shared_ptr<Context> context;
  if (const aclError error = CurrentContext(&context)) return error;
  if (const aclError error = AllowBlocking(call)) return error;
  return context->device->Health();
}

namespace {

// Waiting has no place in a captured stream, nor elsewhere while others capture.
aclError AllowWaiting(const CopyTask& copy, aclrtStream handle) {
  std::shared_ptr<Stream> stream;
  if (const aclError error = FindStream(handle, &stream)) return error;
  if (stream->CapturedBy() != nullptr) {
    return Fail(ACL_ERROR_RT_PARAM_INVALID,
                std::string(copy.call) + ": copies of memory that is not pinned cannot be captured");
  }
  return AllowBlocking(copy.call) == ACL_SUCCESS
             ? ACL_SUCCESS
             : Fail(ACL_ERROR_RT_CAPTURE_MODE_BLOCK_ASYNC,
                    std::string(copy.call) +
                        ": memory that is not pinned has to be waited for, which cannot be "
                        "done while a stream is captured, unless in the relaxed mode");
}

}  // namespace

aclError QueueCopy(CopyTask copy, aclrtStream stream) {
  if (copy.pageable) {
    if (const aclError error = AllowWaiting(copy, stream)) return error;
  }
  const auto describe = [&copy] { return Activity{ActivityKind::kCopy, copy.call, copy.bytes, {}, {}}; };
  const aclError error = Enqueue(stream, Observed(describe, [run = std::move(copy.run)] {
                                   run();
                                   return ACL_SUCCESS;
                                 }));
  return error == ACL_SUCCESS && copy.pageable ? Synchronize(stream) : error;
}

namespace {

aclError CheckEnd(const char* call, const void* pointer, size_t bytes, Side side, const char* name) {
  if (LiesOn(pointer, bytes, side)) return ACL_SUCCESS;
  return Fail(ACL_ERROR_RT_PARAM_INVALID, std::string(call) + ": " + std::to_string(bytes) +
                                              " bytes do not lie in device memory at the " + name);
}

aclError CheckCopy(const char* call, const void* to, size_t capacity, const void* from, size_t bytes,
                   aclrtMemcpyKind kind) {
  if (to == nullptr || from == nullptr) {
    return Fail(ACL_ERROR_INVALID_PARAM, std::string(call) + ": a null pointer");
  }
  if (kind < ACL_MEMCPY_HOST_TO_HOST || kind > ACL_MEMCPY_INTER_DEVICE_TO_DEVICE) {
    return Fail(ACL_ERROR_INVALID_PARAM, std::string(call) + ": unknown kind " + std::to_string(kind));
  }
  if (bytes > capacity) {
    return Fail(ACL_ERROR_INVALID_PARAM, std::string(call) + ": " + std::to_string(bytes) +
                                             " bytes do not fit into " + std::to_string(capacity));
  }
  const Route route = RouteOf(kind);
  if (const aclError error = CheckEnd(call, to, bytes, route.to, "destination")) return error;
  return CheckEnd(call, from, bytes, route.from, "source");
}

aclError QueueFromSnapshot(void* to, const void* from, size_t bytes, aclrtStream stream) {
  const auto* begin = static_cast<const char*>(from);
  auto snapshot = std::make_shared<const std::vector<char>>(begin, begin + bytes);
  return QueueCopy({"aclrtMemcpyAsync", bytes, false,
                    [=, snapshot = std::move(snapshot)] { std::memcpy(to, snapshot->data(), bytes); }},
                   stream);
}

aclError CopyAsync(const char* call, void* to, size_t capacity, const void* from, size_t bytes,
                   aclrtMemcpyKind kind, aclrtStream stream) {
  const HostCallScope scope(call);
  if (bytes == 0) return ACL_SUCCESS;
  if (const aclError error = CheckCopy(call, to, capacity, from, bytes, kind)) return error;
  if (kind == ACL_MEMCPY_HOST_TO_BUF_TO_DEVICE) return QueueFromSnapshot(to, from, bytes, stream);
  const bool pageable = IsPageable(to, bytes) || IsPageable(from, bytes);
  return QueueCopy({call, bytes, pageable, [=] { std::memmove(to, from, bytes); }}, stream);
}

}  // namespace
}  // namespace simulator

using namespace simulator;

aclError aclrtMemcpy(void* destination, size_t capacity, const void* source, size_t bytes,
                     aclrtMemcpyKind kind) {
  const HostCallScope scope("aclrtMemcpy");
  return Guarded("aclrtMemcpy", [&]() -> aclError {
    if (bytes == 0) return ACL_SUCCESS;
    if (const aclError error = AllowNow("aclrtMemcpy")) return error;
    if (const aclError error = CheckCopy("aclrtMemcpy", destination, capacity, source, bytes, kind)) {
      return error;
    }
    std::memmove(destination, source, bytes);
    return ACL_SUCCESS;
  });
}

aclError aclrtMemcpyAsync(void* destination, size_t capacity, const void* source, size_t bytes,
                          aclrtMemcpyKind kind, aclrtStream stream) {
  return Guarded("aclrtMemcpyAsync", [&] {
    return CopyAsync("aclrtMemcpyAsync", destination, capacity, source, bytes, kind, stream);
  });
}

aclError aclrtMemcpyAsyncWithCondition(void* destination, size_t capacity, const void* source, size_t bytes,
                                       aclrtMemcpyKind kind, aclrtStream stream) {
  return Guarded("aclrtMemcpyAsyncWithCondition", [&] {
    return CopyAsync("aclrtMemcpyAsyncWithCondition", destination, capacity, source, bytes, kind, stream);
  });
}
