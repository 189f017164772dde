#include "runtime/blocks.h"

#include <sys/mman.h>
#include <unistd.h>

#include <iterator>
#include <mutex>
#include <utility>

#include "runtime/device.h"
#include "runtime/memory.h"
#include "runtime/physical.h"

namespace simulator {
namespace {

uintptr_t Address(const void* pointer) { return reinterpret_cast<uintptr_t>(pointer); }

}  // namespace

void Blocks::Add(Block block) {
  const std::unique_lock<std::shared_mutex> lock(mutex_);
  const uintptr_t begin = Address(block.begin);
  blocks_[begin] = std::move(block);
}

std::optional<Blocks::Block> Blocks::Remove(const void* begin) {
  const std::unique_lock<std::shared_mutex> lock(mutex_);
  const auto found = blocks_.find(Address(begin));
  if (found == blocks_.end()) return std::nullopt;
  Block block = std::move(found->second);
  blocks_.erase(found);
  return block;
}

std::optional<Blocks::Block> Blocks::At(const void* pointer) const {
  const std::shared_lock<std::shared_mutex> lock(mutex_);
  const auto after = blocks_.upper_bound(Address(pointer));
  if (after == blocks_.begin()) return std::nullopt;
  const auto& [begin, block] = *std::prev(after);
  if (Address(pointer) - begin >= block.bytes) return std::nullopt;
  return block;
}

bool Blocks::Touch(const void* begin, size_t bytes) const {
  if (bytes == 0) return false;
  if (At(begin)) return true;
  const std::shared_lock<std::shared_mutex> lock(mutex_);
  const auto next = blocks_.lower_bound(Address(begin));
  return next != blocks_.end() && next->first - Address(begin) < bytes;
}

bool Blocks::Cover(const void* pointer, size_t bytes) const {
  const std::shared_lock<std::shared_mutex> lock(mutex_);
  auto block = blocks_.upper_bound(Address(pointer));
  if (block == blocks_.begin()) return false;
  --block;
  const uintptr_t offset = Address(pointer) - block->first;
  if (offset > block->second.bytes) return false;
  size_t covered = block->second.bytes - offset;
  while (covered < bytes) {
    const uintptr_t end = block->first + block->second.bytes;
    ++block;
    if (block == blocks_.end() || block->first != end) return false;
    covered += block->second.bytes;
  }
  return true;
}

std::vector<void*> Blocks::Of(const Device& device) const {
  const std::shared_lock<std::shared_mutex> lock(mutex_);
  std::vector<void*> own;
  for (const auto& [address, block] : blocks_) {
    if (block.device == &device) own.push_back(block.begin);
  }
  return own;
}

Blocks& DeviceBlocks() {
  static auto* blocks = new Blocks;
  return *blocks;
}

Blocks& MappedBlocks() {
  static auto* blocks = new Blocks;
  return *blocks;
}

Blocks& ImportedBlocks() {
  static auto* blocks = new Blocks;
  return *blocks;
}

Blocks& RegisteredBlocks() {
  static auto* blocks = new Blocks;
  return *blocks;
}

Blocks& HostBlocks() {
  static auto* blocks = new Blocks;
  return *blocks;
}

Blocks& PinnedBlocks() {
  static auto* blocks = new Blocks;
  return *blocks;
}

std::optional<Blocks::Block> FindDeviceBlock(const void* pointer) {
  for (const Blocks* blocks : {&DeviceBlocks(), &MappedBlocks(), &ImportedBlocks()}) {
    if (auto block = blocks->At(pointer)) return block;
  }
  return std::nullopt;
}

bool IsDeviceMemory(const void* pointer, size_t bytes) {
  return DeviceBlocks().Cover(pointer, bytes) || MappedBlocks().Cover(pointer, bytes) ||
         ImportedBlocks().Cover(pointer, bytes) || RegisteredBlocks().Cover(pointer, bytes);
}

bool IsPinnedMemory(const void* pointer, size_t bytes) {
  return HostBlocks().Cover(pointer, bytes) || PinnedBlocks().Cover(pointer, bytes);
}

void* MapPages(size_t bytes) {
  void* pages =
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return pages == MAP_FAILED ? nullptr : pages;
}

void UnmapPages(void* begin, size_t bytes) { munmap(begin, bytes); }

size_t WholePages(size_t bytes) {
  static const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  return (bytes + page - 1) / page * page;
}

}  // namespace simulator
