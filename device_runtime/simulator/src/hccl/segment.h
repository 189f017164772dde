#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "hccl/hccl_types.h"

namespace simulator::hccl {

constexpr uint32_t kMaxRanks = 64;
constexpr size_t kSlotBytes = size_t{1} << 20;
constexpr size_t kMailboxBytes = size_t{256} << 10;

enum class Command : uint32_t {
  kBarrier,
  kAllReduce,
  kReduce,
  kReduceScatter,
  kReduceScatterV,
  kBroadcast,
  kScatter,
  kAllGather,
  kAllGatherV,
  kAllToAll,
  kAllToAllV,
};

// What a rank says of the collective it begins; all ranks must say the same.
struct Announcement {
  Command command;
  HcclDataType type;
  HcclReduceOp operation;
  uint32_t root;
  uint64_t count;
};

struct Call {
  Announcement announcement;
  uint64_t counts[kMaxRanks];  // elements for or from each rank, where they may differ
};

// Written by one rank, read by all.
struct alignas(64) RankState {
  std::atomic<uint32_t> doorbell;  // rung by others when something this rank may wait for has changed
  std::atomic<uint32_t> arrivals;  // synchronisations this rank has reached
  std::atomic<int32_t> process;
  std::atomic<int32_t> device;  // the physical one
  Call calls[2];                // in turn: a rank may begin the next call while others still read this one
};

// A one-place queue of pieces from one rank to another.
struct alignas(64) Mailbox {
  std::atomic<uint32_t> written;
  std::atomic<uint32_t> read;
  std::atomic<uint32_t> refused;
  HcclDataType type;
  uint64_t count;
  alignas(64) std::byte data[kMailboxBytes];
};

// The memory the ranks of a communicator share: an anonymous file, so that nothing has a name to be left
// behind. Its pages come into being when touched.
class Segment {
 public:
  static std::shared_ptr<Segment> Create(uint32_t ranks);
  static std::shared_ptr<Segment> Map(int descriptor, uint32_t ranks);

  ~Segment();
  Segment(const Segment&) = delete;
  Segment& operator=(const Segment&) = delete;

  uint32_t ranks() const { return ranks_; }
  int descriptor() const { return descriptor_; }

  // A rank of this process takes its place. From then on the others see whether the process still lives.
  void Enter(uint32_t rank, int32_t device);
  bool Present(uint32_t rank);

  // HCCL_SUCCESS, or why the communicator is broken for all of its ranks.
  std::atomic<int32_t>& failure();
  RankState& state(uint32_t rank);
  Mailbox& mailbox(uint32_t sender, uint32_t receiver);
  std::byte* slot(uint32_t rank);

 private:
  Segment(int descriptor, int places, uint32_t ranks, std::byte* base, size_t bytes);

  int descriptor_;
  int places_;  // the same file, opened for the locks of this process
  uint32_t ranks_;
  std::byte* base_;
  size_t bytes_;
};

void Ring(std::atomic<uint32_t>& doorbell);

// Sleeps until the doorbell no longer shows `seen`, at most `milliseconds`.
void Listen(std::atomic<uint32_t>& doorbell, uint32_t seen, int64_t milliseconds);

}  // namespace simulator::hccl
