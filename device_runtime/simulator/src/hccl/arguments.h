#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "acl/acl_base.h"
#include "collectives.h"
#include "communicator.h"

namespace simulator::hccl {

// Checks what one call was given; what is wrong is told in the words of EI0003.
class Arguments {
 public:
  explicit Arguments(const char* call) : call_(call) {}

  void Pointer(const void* pointer, const char* name) const;
  void Type(HcclDataType type, const char* name) const;
  void Reduction(HcclDataType type, HcclReduceOp operation) const;
  void Rank(const Communicator& group, uint32_t rank, const char* name) const;
  void Buffer(const void* buffer, uint64_t count, HcclDataType type, const char* name) const;
  void Same(uint64_t value, uint64_t expected, const char* name) const;

  // An array with an entry for each rank, and a layout of two of them.
  std::vector<uint64_t> Array(const Communicator& group, const void* array, const char* name) const;
  Layout LayoutOf(const Communicator& group, const void* counts, const void* displacements) const;

 private:
  void Expect(bool holds, HcclResult code, const std::string& value, const char* name,
              const std::string& expected) const;

  const char* call_;
};

// Elements from the start of a buffer to the end of its last block.
uint64_t Extent(const Layout& layout);

// Blocks one after the other.
Layout PackedLayout(std::vector<uint64_t> counts);

}  // namespace simulator::hccl
