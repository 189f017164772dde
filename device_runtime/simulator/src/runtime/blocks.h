#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <shared_mutex>
#include <vector>

#include "acl/acl_base.h"

namespace simulator {

class Device;

// Where the blocks of one kind of memory lie in the address space.
class Blocks {
 public:
  struct Block {
    size_t bytes = 0;
    Device* device = nullptr;  // nullptr for host memory
  };

  void Add(const void* begin, Block block);
  std::optional<Block> Remove(const void* begin);
  std::optional<Block> At(const void* pointer) const;   // the block the pointer lies in
  bool Touch(const void* begin, size_t bytes) const;    // whether any block lies there, wholly or in part
  bool Cover(const void* pointer, size_t bytes) const;  // by one block or by neighbours without a gap
  std::vector<void*> Of(const Device& device) const;

 private:
  mutable std::shared_mutex mutex_;
  std::map<uintptr_t, Block> blocks_;
};

Blocks& DeviceBlocks();  // from aclrtMalloc
Blocks& MappedBlocks();  // from aclrtMapMem
Blocks& HostBlocks();    // from aclrtMallocHost

// Frees the aclrtMalloc blocks of a device that nobody uses any more.
void FreeBlocks(const Device& device);

// Fresh zeroed pages of host memory; nullptr when there are none.
void* MapPages(size_t bytes);
void UnmapPages(void* begin, size_t bytes);
size_t WholePages(size_t bytes);

}  // namespace simulator
