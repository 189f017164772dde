#pragma once

#include <cstdint>
#include <vector>

#include "membership.h"

namespace simulator::hccl {

// Each of these runs on the stream's thread, blocks until its rank has the result, and throws Failure.
// Buffers hold elements of `type`; counts and displacements are in elements. Every buffer is staged through
// shared slots piece by piece, so input and output may overlap.

struct Reduction {
  HcclDataType type;
  HcclReduceOp operation;
};

// How much goes to or comes from each rank, and where it lies in the buffer.
struct Layout {
  std::vector<uint64_t> counts;
  std::vector<uint64_t> displacements;
};

// Blocks of `count` elements, one a rank, in the order of ranks.
Layout EvenLayout(uint32_t ranks, uint64_t count);

void Barrier(Membership& group);
void AllReduce(Membership& group, const std::byte* send, std::byte* receive, uint64_t count,
               Reduction reduction);
void ReduceToRoot(Membership& group, const std::byte* send, std::byte* receive, uint64_t count,
                  Reduction reduction, uint32_t root);
void Broadcast(Membership& group, std::byte* buffer, uint64_t count, HcclDataType type, uint32_t root);
void Scatter(Membership& group, const std::byte* send, std::byte* receive, uint64_t count, HcclDataType type,
             uint32_t root);

// `layout` describes the send buffer (ReduceScatter) or the receive buffer (AllGather) and is the same on
// every rank.
void ReduceScatter(Membership& group, const std::byte* send, const Layout& layout, std::byte* receive,
                   Reduction reduction, Command command);
void AllGather(Membership& group, const std::byte* send, std::byte* receive, const Layout& layout,
               HcclDataType type, Command command);

// What this rank sends to a peer must be as much as the peer expects from it.
void AllToAll(Membership& group, const std::byte* send, const Layout& sends, std::byte* receive,
              const Layout& receives, HcclDataType type, Command command);

const char* Name(Command command);

}  // namespace simulator::hccl
