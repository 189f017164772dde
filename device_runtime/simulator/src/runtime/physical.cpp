#include "runtime/physical.h"

#include <sys/mman.h>

#include <utility>

#include "runtime/error.h"

namespace simulator {

Physical::Physical(Device* device, Place place, size_t bytes)
    : device_(device), place_(std::move(place)), bytes_(bytes) {}

void* Physical::Map(void* at, size_t offset, size_t bytes) const {
  const int flags = MAP_SHARED | MAP_NORESERVE | (at == nullptr ? 0 : MAP_FIXED);
  void* mapped = mmap(at, bytes, PROT_READ | PROT_WRITE, flags, File().Descriptor(),
                      Begin() + static_cast<off_t>(offset));
  return mapped == MAP_FAILED ? nullptr : mapped;
}

aclError NoHostMemory() {
  return Fail(ACL_ERROR_RT_MEMORY_ALLOCATION, "the host has no memory left for a simulated device");
}

}  // namespace simulator
