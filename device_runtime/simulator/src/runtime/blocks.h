#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <shared_mutex>
#include <vector>

#include "acl/acl_base.h"

namespace simulator {

class Device;
class Physical;

// Where the blocks of one kind of memory lie in the address space.
class Blocks {
 public:
  struct Block {
    char* begin = nullptr;
    size_t bytes = 0;
    Device* device = nullptr;            // nullptr for host memory
    std::shared_ptr<Physical> physical;  // what lies there, if it is memory of a device
  };

  void Add(Block block);
  std::optional<Block> Remove(const void* begin);
  std::optional<Block> At(const void* pointer) const;   // the block the pointer lies in
  bool Touch(const void* begin, size_t bytes) const;    // whether any block lies there, wholly or in part
  bool Cover(const void* pointer, size_t bytes) const;  // by one block or by neighbours without a gap
  std::vector<void*> Of(const Device& device) const;

 private:
  mutable std::shared_mutex mutex_;
  std::map<uintptr_t, Block> blocks_;
};

Blocks& DeviceBlocks();      // from aclrtMalloc
Blocks& MappedBlocks();      // memory of a device, from aclrtMapMem
Blocks& ImportedBlocks();    // from aclrtIpcMemImportByKey
Blocks& RegisteredBlocks();  // of the host, made accessible to devices by aclrtHostRegister
Blocks& HostBlocks();        // pinned memory of the host, from aclrtMallocHost or aclrtMapMem
Blocks& PinnedBlocks();      // other memory of the host, pinned by aclrtHostRegisterV2

// The block of device memory, of whatever kind, that the pointer lies in.
std::optional<Blocks::Block> FindDeviceBlock(const void* pointer);

// Whether [pointer, pointer + bytes) lies in pinned memory of the host.
bool IsPinnedMemory(const void* pointer, size_t bytes);

// Frees the aclrtMalloc blocks of a device that nobody uses any more.
void FreeBlocks(const Device& device);

// Fresh zeroed pages of host memory; nullptr when there are none.
void* MapPages(size_t bytes);
void UnmapPages(void* begin, size_t bytes);
size_t WholePages(size_t bytes);

}  // namespace simulator
