#include <algorithm>
#include <cstdint>
#include <cstring>
#include <functional>
#include <string>
#include <utility>

#include "acl/acl_rt.h"
#include "runtime/activity.h"
#include "runtime/blocks.h"
#include "runtime/boundary.h"
#include "runtime/copy.h"
#include "runtime/error.h"
#include "runtime/memory.h"
#include "runtime/stream.h"

namespace simulator {
namespace {

aclError Check(const char* call, const void* pointer, size_t capacity, size_t bytes) {
  if (pointer == nullptr) return Fail(ACL_ERROR_INVALID_PARAM, std::string(call) + ": a null pointer");
  if (bytes <= capacity && (IsDeviceMemory(pointer, bytes) || IsPinnedMemory(pointer, bytes))) {
    return ACL_SUCCESS;
  }
  return Fail(ACL_ERROR_RT_PARAM_INVALID, std::string(call) + ": " + std::to_string(bytes) +
                                              " bytes do not lie in device memory, or pinned memory");
}

aclError CheckWords(const char* call, const void* pointer, size_t capacity, size_t count) {
  if (reinterpret_cast<uintptr_t>(pointer) % sizeof(uint32_t) != 0 || count > capacity / sizeof(uint32_t)) {
    return Fail(ACL_ERROR_INVALID_PARAM, std::string(call) + ": words that are not aligned, or do not fit");
  }
  return Check(call, pointer, capacity, count * sizeof(uint32_t));
}

aclError Queue(const char* call, uint64_t bytes, std::function<void()> fill, aclrtStream stream) {
  const HostCallScope scope(call);
  const auto describe = [=] { return Activity{ActivityKind::kMemset, call, bytes, {}, {}}; };
  return Enqueue(stream, Observed(describe, [fill = std::move(fill)] {
                   fill();
                   return ACL_SUCCESS;
                 }));
}

}  // namespace
}  // namespace simulator

using namespace simulator;

aclError aclrtMemset(void* pointer, size_t capacity, int32_t value, size_t bytes) {
  const HostCallScope scope("aclrtMemset");
  return Guarded("aclrtMemset", [&]() -> aclError {
    if (bytes == 0) return ACL_SUCCESS;
    if (const aclError error = AllowNow("aclrtMemset")) return error;
    if (const aclError error = Check("aclrtMemset", pointer, capacity, bytes)) return error;
    std::memset(pointer, value, bytes);
    return ACL_SUCCESS;
  });
}

aclError aclrtMemsetAsync(void* pointer, size_t capacity, int32_t value, size_t bytes, aclrtStream stream) {
  return Guarded("aclrtMemsetAsync", [&]() -> aclError {
    if (bytes == 0) return ACL_SUCCESS;
    if (const aclError error = Check("aclrtMemsetAsync", pointer, capacity, bytes)) return error;
    return Queue("aclrtMemsetAsync", bytes, [=] { std::memset(pointer, value, bytes); }, stream);
  });
}

aclError aclrtMemsetD32(void* pointer, size_t capacity, uint32_t value, size_t count) {
  return Guarded("aclrtMemsetD32", [&]() -> aclError {
    if (count == 0) return ACL_SUCCESS;
    if (const aclError error = AllowNow("aclrtMemsetD32")) return error;
    if (const aclError error = CheckWords("aclrtMemsetD32", pointer, capacity, count)) return error;
    std::fill_n(static_cast<uint32_t*>(pointer), count, value);
    return ACL_SUCCESS;
  });
}

aclError aclrtMemsetD32Async(void* pointer, size_t capacity, uint32_t value, size_t count,
                             aclrtStream stream) {
  return Guarded("aclrtMemsetD32Async", [&]() -> aclError {
    if (count == 0) return ACL_SUCCESS;
    if (const aclError error = CheckWords("aclrtMemsetD32Async", pointer, capacity, count)) return error;
    const auto fill = [=] { std::fill_n(static_cast<uint32_t*>(pointer), count, value); };
    return Queue("aclrtMemsetD32Async", count * sizeof(uint32_t), fill, stream);
  });
}
