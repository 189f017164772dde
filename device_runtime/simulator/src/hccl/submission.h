#pragma once

#include <memory>
#include <mutex>
#include <utility>

#include "arguments.h"
#include "boundary.h"

namespace simulator::hccl {

using Group = std::shared_ptr<Communicator>;

inline const std::byte* In(const void* pointer) { return static_cast<const std::byte*>(pointer); }
inline std::byte* Out(const void* pointer) { return static_cast<std::byte*>(const_cast<void*>(pointer)); }

// One call for a stream: its arguments are checked in `body`, which is not asked when there is nothing to do.
// HCCL does not even look at the ranks then.
template <typename Body>
HcclResult Operation(const char* call, uint64_t count, HcclComm comm, aclrtStream stream,
                     Body body) noexcept {
  if (count == 0) return HCCL_SUCCESS;
  return Guarded(call, [&] {
    const Arguments arguments(call);
    arguments.Pointer(stream, "stream");
    arguments.Pointer(comm, "comm");
    body(arguments, Find(comm));
  });
}

template <typename Work>
void SubmitCollective(const char* call, const Group& group, aclrtStream stream, Work work) {
  Submit(call, group, stream, [work = std::move(work)](Membership& members) {
    const std::lock_guard<std::mutex> lane(members.collective_lane());
    work(members);
  });
}

}  // namespace simulator::hccl
