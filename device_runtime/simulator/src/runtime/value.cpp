#include <cstring>
#include <memory>
#include <string>

#include "acl/acl_rt.h"
#include "runtime/boundary.h"
#include "runtime/error.h"
#include "runtime/event.h"
#include "runtime/memory.h"
#include "runtime/queue.h"
#include "runtime/waiting.h"

// Streams that write a number into device memory, and streams that wait for one. All of them share a lock, so
// that a wait sees a write at once; what kernels and copies write it sees a little later.

namespace simulator {
namespace {

struct Values {
  std::mutex mutex;
  std::condition_variable changed;
};

Values& TheValues() {
  static auto* values = new Values;
  return *values;
}

bool Holds(uint64_t value, uint64_t wanted, uint32_t comparison) {
  switch (comparison) {
    case ACL_STREAM_WAIT_VALUE_GEQ:
      return static_cast<int64_t>(value - wanted) >= 0;
    case ACL_STREAM_WAIT_VALUE_EQ:
      return value == wanted;
    case ACL_STREAM_WAIT_VALUE_AND:
      return (value & wanted) != 0;
    default:
      return ~(value | wanted) != 0;
  }
}

uint64_t Load(const void* address) {
  uint64_t value = 0;
  std::memcpy(&value, address, sizeof(value));
  return value;
}

aclError Write(void* address, uint64_t value) {
  const std::lock_guard<std::mutex> lock(TheValues().mutex);
  std::memcpy(address, &value, sizeof(value));
  TheValues().changed.notify_all();
  return ACL_SUCCESS;
}

aclError Wait(const void* address, uint64_t wanted, uint32_t comparison) {
  std::unique_lock<std::mutex> lock(TheValues().mutex);
  return TaskWaited(WaitUntil(TheValues().changed, lock, LongestWaitOfATask(),
                              [=] { return Holds(Load(address), wanted, comparison); }));
}

std::string Named(const char* what, const void* address) {
  return what + std::to_string(reinterpret_cast<uintptr_t>(address));
}

aclError CheckAddress(const char* call, const void* address) {
  if (IsDeviceMemory(address, sizeof(uint64_t))) return ACL_SUCCESS;
  return Fail(ACL_ERROR_RT_PARAM_INVALID, std::string(call) + ": no device memory is there");
}

}  // namespace
}  // namespace simulator

using namespace simulator;

aclError aclrtValueWrite(void* address, uint64_t value, uint32_t flag, aclrtStream handle) {
  return Guarded("aclrtValueWrite", [&]() -> aclError {
    std::shared_ptr<Stream> stream;
    if (const aclError error = CheckAddress("aclrtValueWrite", address)) return error;
    if (flag != 0) return Fail(ACL_ERROR_RT_PARAM_INVALID, "aclrtValueWrite: there are no flags");
    if (const aclError error = FindStream(handle, &stream)) return error;
    return stream->Append([=] { return Write(address, value); }, Stream::When::kUnlessFailed,
                          {"MEM_WRITE_VALUE", Named("MEM_WRITE_VALUE_", address)});
  });
}

aclError aclrtValueWait(void* address, uint64_t value, uint32_t comparison, aclrtStream handle) {
  return Guarded("aclrtValueWait", [&]() -> aclError {
    std::shared_ptr<Stream> stream;
    if (const aclError error = CheckAddress("aclrtValueWait", address)) return error;
    if (comparison > ACL_STREAM_WAIT_VALUE_NOR) {
      return Fail(ACL_ERROR_RT_PARAM_INVALID, "aclrtValueWait: there is no such comparison");
    }
    if (const aclError error = FindStream(handle, &stream)) return error;
    return stream->Append([=] { return Wait(address, value, comparison); }, Stream::When::kUnlessFailed,
                          {"MEM_WAIT_VALUE", Named("MEM_WAIT_VALUE_", address)});
  });
}
