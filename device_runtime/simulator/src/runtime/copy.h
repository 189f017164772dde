#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

#include "acl/acl_rt.h"

namespace simulator {

// One end of a copy is on a device, or it is not said where.
enum class Side { kHost, kDevice, kAny };

struct Route {
  Side to = Side::kAny;
  Side from = Side::kAny;
};

Route RouteOf(aclrtMemcpyKind kind);

// Whether so many bytes lie where they are said to. Whatever starts in device memory has to end in it as
// well, whichever side it was said to be on.
bool LiesOn(const void* pointer, size_t bytes, Side side);

// Whether a device has to wait for the host with it: neither device memory nor pinned.
bool IsPageable(const void* pointer, size_t bytes);

// Whether a copy may be made at once: the device of this thread is in order, and nothing forbids to wait.
aclError AllowNow(const char* call);

// A copy on its way to a stream.
struct CopyTask {
  const char* call;
  uint64_t bytes;
  bool pageable;  // from or to such memory
  std::function<void()> run;
};

// Queues it. A copy from or to pageable memory has been done when this returns, as in CANN.
aclError QueueCopy(CopyTask copy, aclrtStream stream);

}  // namespace simulator
