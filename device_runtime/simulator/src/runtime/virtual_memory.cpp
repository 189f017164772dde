#include <sys/mman.h>
#include <unistd.h>

#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

#include "acl/acl_rt.h"
#include "runtime/blocks.h"
#include "runtime/device.h"
#include "runtime/error.h"
#include "runtime/handles.h"
#include "runtime/queue.h"

// Address ranges are reserved as pages without access. Physical memory is an anonymous file: the same memory
// can be mapped at several addresses, and it stays alive while it is mapped.

namespace simulator {
namespace {

class Physical {
 public:
  Physical(Device* device, size_t bytes) : device_(device), bytes_(bytes) {}
  ~Physical() {
    if (file_ >= 0) close(file_);
    if (taken_) device_->GiveBack(bytes_);
  }
  Physical(const Physical&) = delete;
  Physical& operator=(const Physical&) = delete;

  aclError Allocate() {
    taken_ = device_->Take(bytes_);
    if (!taken_) {
      return Fail(ACL_ERROR_RT_MEMORY_ALLOCATION,
                  "device " + std::to_string(device_->Id()) + " is out of simulated memory");
    }
    file_ = memfd_create("simulated-npu", MFD_CLOEXEC);
    if (file_ < 0 || ftruncate(file_, static_cast<off_t>(bytes_)) != 0) {
      return Fail(ACL_ERROR_RT_MEMORY_ALLOCATION, "the host has no memory left for a simulated device");
    }
    return ACL_SUCCESS;
  }

  Device* Owner() const { return device_; }
  int File() const { return file_; }
  size_t Bytes() const { return bytes_; }

 private:
  Device* const device_;
  const size_t bytes_;
  int file_ = -1;
  bool taken_ = false;
};

Handles<Physical>& Physicals() {
  static auto* physicals = new Handles<Physical>;
  return *physicals;
}

Blocks& Reserved() {
  static auto* reserved = new Blocks;
  return *reserved;
}

struct Mappings {
  std::mutex mutex;
  std::unordered_map<void*, std::shared_ptr<Physical>> physical;
};

Mappings& Mapped() {
  static auto* mappings = new Mappings;
  return *mappings;
}

bool ReservePages(void* at, size_t bytes, int extraFlags, void** reserved) {
  const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | extraFlags;
  *reserved = mmap(at, bytes, PROT_NONE, flags, -1, 0);
  return *reserved != MAP_FAILED;
}

}  // namespace
}  // namespace simulator

using namespace simulator;

aclError aclrtReserveMemAddress(void** address, size_t bytes, size_t, void* wanted, uint64_t) {
  if (address == nullptr || bytes == 0) {
    return Fail(ACL_ERROR_INVALID_PARAM, "aclrtReserveMemAddress: nothing to reserve, or no result");
  }
  const size_t reserved = WholePages(bytes);
  if (!ReservePages(wanted, reserved, 0, address)) {
    return Fail(ACL_ERROR_RT_MEMORY_ALLOCATION, "aclrtReserveMemAddress: no address range is free");
  }
  Reserved().Add(*address, {reserved, nullptr});
  return ACL_SUCCESS;
}

aclError aclrtReleaseMemAddress(void* address) {
  const auto found = Reserved().At(address);
  if (found && MappedBlocks().Touch(address, found->bytes)) {
    return Fail(ACL_ERROR_RT_PARAM_INVALID, "aclrtReleaseMemAddress: memory is still mapped in the range");
  }
  const auto range = Reserved().Remove(address);
  if (!range) return Fail(ACL_ERROR_RT_PARAM_INVALID, "aclrtReleaseMemAddress: not a reserved range");
  UnmapPages(address, range->bytes);
  return ACL_SUCCESS;
}

aclError aclrtMallocPhysical(aclrtDrvMemHandle* handle, size_t bytes, const aclrtPhysicalMemProp* properties,
                             uint64_t) {
  if (handle == nullptr || properties == nullptr || bytes == 0 || bytes != WholePages(bytes)) {
    return Fail(ACL_ERROR_INVALID_PARAM,
                "aclrtMallocPhysical: whole pages, properties and a result are needed");
  }
  if (properties->location.type != ACL_MEM_LOCATION_TYPE_DEVICE) {
    return Refuse("aclrtMallocPhysical of memory that is not on a device");
  }
  Device* device = nullptr;
  if (const aclError error = FindDevice(properties->location.id, &device)) return error;
  auto physical = std::make_shared<Physical>(device, bytes);
  if (const aclError error = physical->Allocate()) return error;
  *handle = Physicals().Add(std::move(physical));
  return ACL_SUCCESS;
}

aclError aclrtFreePhysical(aclrtDrvMemHandle handle) {
  if (Physicals().Remove(handle) != nullptr) return ACL_SUCCESS;
  return Fail(ACL_ERROR_RT_INVALID_HANDLE, "aclrtFreePhysical: not live physical memory");
}

aclError aclrtMapMem(void* address, size_t bytes, size_t offset, aclrtDrvMemHandle handle, uint64_t) {
  const std::shared_ptr<Physical> physical = Physicals().Find(handle);
  if (physical == nullptr) return Fail(ACL_ERROR_RT_INVALID_HANDLE, "aclrtMapMem: not live physical memory");
  if (offset > physical->Bytes() || bytes > physical->Bytes() - offset || !Reserved().Cover(address, bytes)) {
    return Fail(ACL_ERROR_RT_PARAM_INVALID, "aclrtMapMem: outside the memory or outside a reserved range");
  }
  if (MappedBlocks().Touch(address, bytes)) {
    return Fail(ACL_ERROR_RT_PARAM_INVALID, "aclrtMapMem: memory is mapped there already");
  }
  const void* mapped = mmap(address, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, physical->File(),
                            static_cast<off_t>(offset));
  if (mapped == MAP_FAILED) return Fail(ACL_ERROR_RT_MEMORY_ALLOCATION, "aclrtMapMem: the host refused");
  MappedBlocks().Add(address, {bytes, physical->Owner()});
  const std::lock_guard<std::mutex> lock(Mapped().mutex);
  Mapped().physical[address] = physical;
  return ACL_SUCCESS;
}

aclError aclrtUnmapMem(void* address) {
  const auto found = MappedBlocks().At(address);
  if (found) DrainStreams(*found->device);  // a queued task may still use the memory
  const auto block = MappedBlocks().Remove(address);
  if (!block) return Fail(ACL_ERROR_RT_PARAM_INVALID, "aclrtUnmapMem: nothing is mapped at this address");
  void* reserved = nullptr;
  if (!ReservePages(address, block->bytes, MAP_FIXED, &reserved)) {
    return Fail(ACL_ERROR_RT_MEMORY_FREE, "aclrtUnmapMem: the host refused");
  }
  const std::lock_guard<std::mutex> lock(Mapped().mutex);
  Mapped().physical.erase(address);
  return ACL_SUCCESS;
}
