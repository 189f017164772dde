#include <algorithm>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <string>
#include <vector>

#include "acl/acl_rt.h"
#include "runtime/blocks.h"
#include "runtime/boundary.h"
#include "runtime/copy.h"
#include "runtime/device.h"
#include "runtime/error.h"

// Many copies between the host and devices at once, each from and to where its attributes say.

namespace simulator {
namespace {

struct Batch {
  void** to;
  const size_t* capacities;  // nullptr: not said
  void** from;
  const size_t* bytes;
  size_t count;
  const aclrtMemcpyBatchAttr* attributes;
  const size_t* firstOf;  // each of the attributes counts from this copy on
  size_t attributeCount;
};

aclError Wrong(const char* call, const std::string& what) {
  return Fail(ACL_ERROR_RT_PARAM_INVALID, std::string(call) + ": " + what);
}

aclError CheckArrays(const char* call, const Batch& batch) {
  if (batch.to == nullptr || batch.from == nullptr || batch.attributes == nullptr ||
      batch.firstOf == nullptr || batch.attributeCount == 0 || batch.attributeCount > batch.count) {
    return Fail(ACL_ERROR_INVALID_PARAM, std::string(call) + ": an array is missing, or too long");
  }
  if (batch.firstOf[0] != 0) return Wrong(call, "the first attributes have to count from the first copy on");
  for (size_t i = 1; i < batch.attributeCount; ++i) {
    if (batch.firstOf[i] <= batch.firstOf[i - 1] || batch.firstOf[i] >= batch.count) {
      return Wrong(call, "the attributes do not count from one copy after the other on");
    }
  }
  return ACL_SUCCESS;
}

const aclrtMemcpyBatchAttr& AttributesOf(const Batch& batch, size_t index) {
  const auto* next = std::upper_bound(batch.firstOf, batch.firstOf + batch.attributeCount, index);
  return batch.attributes[next - batch.firstOf - 1];
}

// Where memory really is, in the terms of the attributes: all that is on no device is on the host.
bool IsAt(const void* pointer, const aclrtMemLocation& location) {
  const auto block = FindDeviceBlock(pointer);
  const bool saidOnDevice = location.type == ACL_MEM_LOCATION_TYPE_DEVICE;
  if (!block) return !saidOnDevice;
  return saidOnDevice && location.id == static_cast<uint32_t>(block->device->Id());
}

aclError CheckOne(const char* call, const Batch& batch, size_t index) {
  const void* to = batch.to[index];
  const void* from = batch.from[index];
  const size_t bytes = batch.bytes[index];
  if (to == nullptr || from == nullptr) return Wrong(call, "a null pointer");
  if (bytes == 0 || (batch.capacities != nullptr && bytes > batch.capacities[index])) {
    return Wrong(call, std::to_string(bytes) + " bytes are nothing, or do not fit");
  }
  const aclrtMemcpyBatchAttr& attributes = AttributesOf(batch, index);
  if (!IsAt(to, attributes.dstLoc) || !IsAt(from, attributes.srcLoc)) {
    return Wrong(call, "the memory is not where its attributes say");
  }
  if (FindDeviceBlock(to).has_value() == FindDeviceBlock(from).has_value()) {
    return Wrong(call, "only between the host and a device");
  }
  if (LiesOn(to, bytes, Side::kAny) && LiesOn(from, bytes, Side::kAny)) return ACL_SUCCESS;
  return Wrong(call, std::to_string(bytes) + " bytes do not lie in device memory");
}

aclError Check(const char* call, const Batch& batch, size_t* failed) {
  if (const aclError error = CheckArrays(call, batch)) return error;
  for (size_t i = 0; i < batch.count; ++i) {
    if (const aclError error = CheckOne(call, batch, i)) {
      if (failed != nullptr) *failed = i;
      return error;
    }
  }
  return ACL_SUCCESS;
}

// The first things CANN looks at; whether there is anything to copy at all.
aclError Begin(const char* call, const Batch& batch, size_t* failed, bool* empty) {
  if (failed != nullptr) *failed = SIZE_MAX;
  if (batch.bytes == nullptr || batch.count == 0) {
    return Fail(ACL_ERROR_INVALID_PARAM, std::string(call) + ": no sizes");
  }
  *empty = std::all_of(batch.bytes, batch.bytes + batch.count, [](size_t bytes) { return bytes == 0; });
  return ACL_SUCCESS;
}

aclError CopyNow(const char* call, const Batch& batch, size_t* failed) {
  bool empty = false;
  if (const aclError error = Begin(call, batch, failed, &empty)) return error;
  if (empty) return ACL_SUCCESS;
  if (const aclError error = AllowNow(call)) return error;
  if (const aclError error = Check(call, batch, failed)) return error;
  for (size_t i = 0; i < batch.count; ++i) std::memmove(batch.to[i], batch.from[i], batch.bytes[i]);
  return ACL_SUCCESS;
}

aclError Queue(const char* call, const Batch& batch, size_t* failed, aclrtStream stream) {
  bool empty = false;
  if (const aclError error = Begin(call, batch, failed, &empty)) return error;
  if (empty) return ACL_SUCCESS;
  if (const aclError error = Check(call, batch, failed)) return error;
  bool pageable = false;
  for (size_t i = 0; i < batch.count; ++i) {
    pageable =
        pageable || IsPageable(batch.to[i], batch.bytes[i]) || IsPageable(batch.from[i], batch.bytes[i]);
  }
  const std::vector<void*> to(batch.to, batch.to + batch.count);
  const std::vector<const void*> from(batch.from, batch.from + batch.count);
  const std::vector<size_t> bytes(batch.bytes, batch.bytes + batch.count);
  const auto run = [to, from, bytes] {
    for (size_t i = 0; i < to.size(); ++i) std::memmove(to[i], from[i], bytes[i]);
  };
  return QueueCopy({call, std::accumulate(bytes.begin(), bytes.end(), uint64_t{0}), pageable, run}, stream);
}

}  // namespace
}  // namespace simulator

using namespace simulator;

aclError aclrtMemcpyBatch(void** destinations, size_t* capacities, void** sources, size_t* bytes,
                          size_t count, aclrtMemcpyBatchAttr* attributes, size_t* firstOf,
                          size_t attributeCount, size_t* failed) {
  return Guarded("aclrtMemcpyBatch", [&]() -> aclError {
    if (failed == nullptr) return Fail(ACL_ERROR_INVALID_PARAM, "aclrtMemcpyBatch: no place for the failure");
    return CopyNow("aclrtMemcpyBatch",
                   {destinations, capacities, sources, bytes, count, attributes, firstOf, attributeCount},
                   failed);
  });
}

aclError aclrtMemcpyBatchV2(void** destinations, size_t* capacities, void** sources, size_t* bytes,
                            size_t count, aclrtMemcpyBatchAttr* attributes, size_t* firstOf,
                            size_t attributeCount) {
  return Guarded("aclrtMemcpyBatchV2", [&] {
    return CopyNow("aclrtMemcpyBatchV2",
                   {destinations, capacities, sources, bytes, count, attributes, firstOf, attributeCount},
                   nullptr);
  });
}

aclError aclrtMemcpyBatchAsync(void** destinations, size_t* capacities, void** sources, size_t* bytes,
                               size_t count, aclrtMemcpyBatchAttr* attributes, size_t* firstOf,
                               size_t attributeCount, size_t* failed, aclrtStream stream) {
  return Guarded("aclrtMemcpyBatchAsync", [&]() -> aclError {
    if (failed == nullptr) {
      return Fail(ACL_ERROR_INVALID_PARAM, "aclrtMemcpyBatchAsync: no place for the failure");
    }
    return Queue("aclrtMemcpyBatchAsync",
                 {destinations, capacities, sources, bytes, count, attributes, firstOf, attributeCount},
                 failed, stream);
  });
}

aclError aclrtMemcpyBatchAsyncV2(void** destinations, size_t* capacities, void** sources, size_t* bytes,
                                 size_t count, aclrtMemcpyBatchAttr* attributes, size_t* firstOf,
                                 size_t attributeCount, aclrtStream stream) {
  return Guarded("aclrtMemcpyBatchAsyncV2", [&] {
    return Queue("aclrtMemcpyBatchAsyncV2",
                 {destinations, capacities, sources, bytes, count, attributes, firstOf, attributeCount},
                 nullptr, stream);
  });
}
