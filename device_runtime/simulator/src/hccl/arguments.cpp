#include "arguments.h"

#include <algorithm>
#include <utility>

#include "counts.h"
#include "element.h"
#include "reports.h"
#include "runtime/memory.h"
#include "support.h"

namespace simulator::hccl {

void Arguments::Expect(bool holds, HcclResult code, const std::string& value, const char* name,
                       const std::string& expected) const {
  if (!holds) Throw(code, InvalidArgument(call_, value, name, expected));
}

void Arguments::Pointer(const void* pointer, const char* name) const {
  Expect(pointer != nullptr, HCCL_E_PTR, "nullptr", name, "non-null pointer");
}

void Arguments::Type(HcclDataType type, const char* name) const {
  const Chip chip = TheChip();
  Expect(CanMove(chip, type), HCCL_E_NOT_SUPPORT, Name(type), name, Movable(chip));
}

void Arguments::Reduction(HcclDataType type, HcclReduceOp operation) const {
  const bool exists = operation >= HCCL_REDUCE_SUM && operation <= HCCL_REDUCE_MIN;
  Expect(exists, HCCL_E_NOT_SUPPORT, std::to_string(operation), "op", "sum, prod, max, min");
  const Chip chip = TheChip();
  Expect(CanReduce(chip, type, operation), HCCL_E_NOT_SUPPORT, Name(type), "dataType",
         Reducible(chip, operation));
}

void Arguments::Rank(const Communicator& group, uint32_t rank, const char* name) const {
  Expect(rank < group.ranks(), HCCL_E_PARA, std::to_string(rank), name,
         "less than " + std::to_string(group.ranks()));
}

void Arguments::Buffer(const void* buffer, uint64_t count, HcclDataType type, const char* name) const {
  if (count == 0) return;
  Pointer(buffer, name);
  const size_t bytes = Times(count, ElementSize(type));
  Expect(simulator::IsDeviceMemory(buffer, bytes), HCCL_E_PARA, std::to_string(bytes) + " bytes", name,
         "memory of a device");
}

void Arguments::Same(uint64_t value, uint64_t expected, const char* name) const {
  Expect(value == expected, HCCL_E_PARA, std::to_string(value), name,
         std::to_string(expected) + ", as the counts say for this rank");
}

std::vector<uint64_t> Arguments::Array(const Communicator& group, const void* array, const char* name) const {
  Pointer(array, name);
  const auto* values = static_cast<const uint64_t*>(array);
  return {values, values + group.ranks()};
}

Layout Arguments::LayoutOf(const Communicator& group, const void* counts, const void* displacements) const {
  return {Array(group, counts, "counts"), Array(group, displacements, "displs")};
}

uint64_t Extent(const Layout& layout) {
  uint64_t extent = 0;
  for (size_t i = 0; i < layout.counts.size(); ++i) {
    if (layout.counts[i] > 0) extent = std::max(extent, Plus(layout.displacements[i], layout.counts[i]));
  }
  return extent;
}

Layout PackedLayout(std::vector<uint64_t> counts) {
  Layout layout{std::move(counts), {}};
  uint64_t next = 0;
  for (const uint64_t count : layout.counts) {
    layout.displacements.push_back(next);
    next = Plus(next, count);
  }
  return layout;
}

}  // namespace simulator::hccl
