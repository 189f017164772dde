#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "acl/acl_rt.h"
#include "runtime/activity.h"
#include "runtime/blocks.h"
#include "runtime/capture.h"
#include "runtime/error.h"
#include "runtime/memory.h"
#include "runtime/stream.h"

namespace simulator {
namespace {

enum class Side { kHost, kDevice, kAny };

struct Route {
  Side to;
  Side from;
};

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
  return {Side::kAny, Side::kAny};
}

// Whatever starts in device memory has to end in it as well, whichever side it was said to be on.
bool Fits(const void* pointer, size_t bytes, Side side) {
  const bool startsOnDevice = IsDeviceMemory(pointer, 1);
  if (side == Side::kDevice || startsOnDevice) return IsDeviceMemory(pointer, bytes);
  return true;
}

aclError CheckEnds(const char* call, const void* to, const void* from, size_t bytes, Route route) {
  if (!Fits(to, bytes, route.to)) {
    return Fail(ACL_ERROR_RT_PARAM_INVALID, std::string(call) + ": " + std::to_string(bytes) +
                                                " bytes do not lie in device memory at the destination");
  }
  if (!Fits(from, bytes, route.from)) {
    return Fail(ACL_ERROR_RT_PARAM_INVALID, std::string(call) + ": " + std::to_string(bytes) +
                                                " bytes do not lie in device memory at the source");
  }
  return ACL_SUCCESS;
}

aclError CheckCopy(const char* call, const void* to, size_t capacity, const void* from, size_t bytes,
                   aclrtMemcpyKind kind) {
  if (to == nullptr || from == nullptr) {
    return Fail(ACL_ERROR_INVALID_PARAM, std::string(call) + ": a null pointer");
  }
  if (bytes > capacity) {
    return Fail(ACL_ERROR_INVALID_PARAM, std::string(call) + ": " + std::to_string(bytes) +
                                             " bytes do not fit into " + std::to_string(capacity));
  }
  return CheckEnds(call, to, from, bytes, RouteOf(kind));
}

aclError CheckSet(const char* call, const void* pointer, size_t capacity, size_t bytes) {
  if (pointer == nullptr || bytes > capacity || !IsDeviceMemory(pointer, bytes)) {
    return Fail(ACL_ERROR_RT_PARAM_INVALID,
                std::string(call) + ": " + std::to_string(bytes) + " bytes do not lie in device memory");
  }
  return ACL_SUCCESS;
}

auto CopyOf(size_t bytes) {
  return [bytes] { return Activity{ActivityKind::kCopy, "aclrtMemcpyAsync", bytes}; };
}

aclError CopyFromSnapshot(void* to, const void* from, size_t bytes, aclrtStream stream) {
  const auto* begin = static_cast<const char*>(from);
  auto snapshot = std::make_shared<const std::vector<char>>(begin, begin + bytes);
  return Enqueue(stream, Observed(CopyOf(bytes), [=, snapshot = std::move(snapshot)] {
                   std::memcpy(to, snapshot->data(), bytes);
                   return ACL_SUCCESS;
                 }));
}

}  // namespace
}  // namespace simulator

using namespace simulator;

aclError aclrtMemcpy(void* destination, size_t capacity, const void* source, size_t bytes,
                     aclrtMemcpyKind kind) {
  if (bytes == 0) return ACL_SUCCESS;
  if (const aclError error = CheckCopy("aclrtMemcpy", destination, capacity, source, bytes, kind))
    return error;
  if (const aclError error = AllowBlocking("aclrtMemcpy")) return error;
  std::memmove(destination, source, bytes);
  return ACL_SUCCESS;
}

aclError aclrtMemcpyAsync(void* destination, size_t capacity, const void* source, size_t bytes,
                          aclrtMemcpyKind kind, aclrtStream stream) {
  if (bytes == 0) return ACL_SUCCESS;
  if (const aclError error = CheckCopy("aclrtMemcpyAsync", destination, capacity, source, bytes, kind)) {
    return error;
  }
  if (kind == ACL_MEMCPY_HOST_TO_BUF_TO_DEVICE) return CopyFromSnapshot(destination, source, bytes, stream);
  return Enqueue(stream, Observed(CopyOf(bytes), [=] {
                   std::memmove(destination, source, bytes);
                   return ACL_SUCCESS;
                 }));
}

aclError aclrtMemcpyAsyncWithCondition(void* destination, size_t capacity, const void* source, size_t bytes,
                                       aclrtMemcpyKind kind, aclrtStream stream) {
  return aclrtMemcpyAsync(destination, capacity, source, bytes, kind, stream);
}

aclError aclrtMemset(void* pointer, size_t capacity, int32_t value, size_t bytes) {
  if (bytes == 0) return ACL_SUCCESS;
  if (const aclError error = CheckSet("aclrtMemset", pointer, capacity, bytes)) return error;
  if (const aclError error = AllowBlocking("aclrtMemset")) return error;
  std::memset(pointer, value, bytes);
  return ACL_SUCCESS;
}

aclError aclrtMemsetAsync(void* pointer, size_t capacity, int32_t value, size_t bytes, aclrtStream stream) {
  if (bytes == 0) return ACL_SUCCESS;
  if (const aclError error = CheckSet("aclrtMemsetAsync", pointer, capacity, bytes)) return error;
  const auto describe = [bytes] { return Activity{ActivityKind::kMemset, "aclrtMemsetAsync", bytes}; };
  return Enqueue(stream, Observed(describe, [=] {
                   std::memset(pointer, value, bytes);
                   return ACL_SUCCESS;
                 }));
}
