#pragma once

#include <sys/types.h>

#include <cstddef>
#include <memory>

#include "acl/acl_base.h"
#include "runtime/memory_file.h"

namespace simulator {

class Device;

// Memory of a device: pages of the memory file of some process, so that it can be mapped at several addresses
// and by several processes. It is there for as long as anybody holds it.
class Physical {
 public:
  virtual ~Physical() = default;
  Physical(const Physical&) = delete;
  Physical& operator=(const Physical&) = delete;

  // The device it is on for this process; nullptr for memory of the host.
  Device* Owner() const { return device_; }
  size_t Bytes() const { return bytes_; }

  // Makes [offset, offset + bytes) of it accessible `at` an address, in place of what is mapped there, or
  // wherever there is room for nullptr. Returns nullptr when the host refuses.
  void* Map(void* at, size_t offset, size_t bytes) const;

 protected:
  Physical(Device* device, Place place, size_t bytes);

  const OpenFile& File() const { return *place_.file; }
  off_t Begin() const { return place_.begin; }

 private:
  Device* const device_;
  const Place place_;
  const size_t bytes_;
};

// Of the host.
aclError NoHostMemory();

}  // namespace simulator
