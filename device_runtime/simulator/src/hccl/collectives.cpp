#include "collectives.h"

#include <algorithm>
#include <cstring>

#include "counts.h"
#include "element.h"
#include "failure.h"
#include "reports.h"

namespace simulator::hccl {
namespace {

// Throws unless this rank and a peer mean the same.
class Comparison {
 public:
  Comparison(Membership& group, Command command, uint32_t peer)
      : group_(group), command_(command), peer_(peer) {}

  void Require(bool same, const std::string& parameter, const std::string& local,
               const std::string& remote) const {
    if (same) return;
    const auto end = [](uint32_t rank, const std::string& value) {
      return std::to_string(rank) + ": " + value;
    };
    Throw(HCCL_E_PARA, InconsistentArguments(Name(command_), group_.name(), parameter,
                                             end(group_.rank(), local), end(peer_, remote)));
  }

  void RequireSame(const Announcement& mine, const Announcement& theirs) const {
    Require(mine.command == theirs.command, "cmdType", Name(mine.command), Name(theirs.command));
    Require(mine.type == theirs.type, "dataType", Name(mine.type), Name(theirs.type));
    Require(mine.operation == theirs.operation, "op", Name(mine.operation), Name(theirs.operation));
    Require(mine.root == theirs.root, "root", std::to_string(mine.root), std::to_string(theirs.root));
    Require(mine.count == theirs.count, "count", std::to_string(mine.count), std::to_string(theirs.count));
  }

 private:
  Membership& group_;
  Command command_;
  uint32_t peer_;
};

// Begins a collective: all ranks are in it, and mean the same by it. `counts` are published with it.
void Agree(Membership& group, const Announcement& announcement, const std::vector<uint64_t>& counts = {}) {
  Call& call = group.BeginCall();
  call.announcement = announcement;
  std::copy(counts.begin(), counts.end(), call.counts);
  group.Synchronize();
  for (uint32_t peer = 0; peer < group.ranks(); ++peer) {
    Comparison(group, announcement.command, peer).RequireSame(announcement, group.CallOf(peer).announcement);
  }
}

Announcement Plain(Command command, HcclDataType type, uint64_t count, uint32_t root = 0) {
  return {command, type, HCCL_REDUCE_RESERVED, root, count};
}

void Copy(std::byte* destination, const std::byte* source, size_t bytes) {
  if (bytes > 0) std::memcpy(destination, source, bytes);
}

uint64_t PiecesOf(uint64_t count, uint64_t piece) { return (count + piece - 1) / piece; }

// The part [begin, begin + count) of a block that moves in one round.
struct Piece {
  uint64_t begin;
  uint64_t count;
};

Piece PieceAt(uint64_t round, uint64_t piece, uint64_t total) {
  const uint64_t begin = std::min(round * piece, total);
  return {begin, std::min(piece, total - begin)};
}

// Rank `index` of `ranks` owns this share of `count` elements.
Piece ShareOf(uint64_t count, uint32_t index, uint32_t ranks) {
  const uint64_t begin = count * index / ranks;
  return {begin, count * (index + 1) / ranks - begin};
}

std::vector<const std::byte*> SlotsAt(Membership& group, size_t offset) {
  std::vector<const std::byte*> sources;
  sources.reserve(group.ranks());
  for (uint32_t peer = 0; peer < group.ranks(); ++peer)
    sources.push_back(group.segment().slot(peer) + offset);
  return sources;
}

// Places in the slots. A slot divided among the ranks has one block of `capacity` elements for each.
struct Staging {
  Staging(Membership& group, HcclDataType type, uint32_t blocks)
      : segment(group.segment()),
        size(ElementSize(type)),
        // A group has at least one rank, and a type without a size was refused when the call was made.
        // NOLINTNEXTLINE(clang-analyzer-core.DivideZero)
        capacity(kSlotBytes / size / blocks) {}

  std::byte* block(uint32_t owner, uint32_t index) const {
    return segment.slot(owner) + index * capacity * size;
  }

  Segment& segment;
  size_t size;
  uint64_t capacity;
};

uint64_t Largest(const std::vector<uint64_t>& counts) {
  return counts.empty() ? 0 : *std::max_element(counts.begin(), counts.end());
}

// All ranks published the same counts.
void RequireSameCounts(Membership& group, Command command, const std::vector<uint64_t>& counts) {
  for (uint32_t peer = 0; peer < group.ranks(); ++peer) {
    for (uint32_t part = 0; part < group.ranks(); ++part) {
      const uint64_t theirs = group.CallOf(peer).counts[part];
      Comparison(group, command, peer)
          .Require(counts[part] == theirs, "count of rank " + std::to_string(part),
                   std::to_string(counts[part]), std::to_string(theirs));
    }
  }
}

// Each rank published what it sends, which is what the others expect from it.
void RequireMatchingCounts(Membership& group, Command command, const Layout& receives) {
  for (uint32_t peer = 0; peer < group.ranks(); ++peer) {
    const uint64_t sent = group.CallOf(peer).counts[group.rank()];
    Comparison(group, command, peer)
        .Require(sent == receives.counts[peer], "count",
                 "to receive " + std::to_string(receives.counts[peer]), "to send " + std::to_string(sent));
  }
}

// The rounds needed for the largest block any rank sends to any other.
uint64_t LargestExchange(Membership& group) {
  uint64_t largest = 0;
  for (uint32_t peer = 0; peer < group.ranks(); ++peer) {
    const uint64_t* counts = group.CallOf(peer).counts;
    largest = std::max(largest, *std::max_element(counts, counts + group.ranks()));
  }
  return largest;
}

}  // namespace

const char* Name(Command command) {
  switch (command) {
    case Command::kBarrier:
      return "Barrier";
    case Command::kAllReduce:
      return "AllReduce";
    case Command::kReduce:
      return "Reduce";
    case Command::kReduceScatter:
      return "ReduceScatter";
    case Command::kReduceScatterV:
      return "ReduceScatterV";
    case Command::kBroadcast:
      return "Broadcast";
    case Command::kScatter:
      return "Scatter";
    case Command::kAllGather:
      return "AllGather";
    case Command::kAllGatherV:
      return "AllGatherV";
    case Command::kAllToAll:
      return "AlltoAll";
    case Command::kAllToAllV:
      return "AlltoAllV";
  }
  return "unknown";
}

Layout EvenLayout(uint32_t ranks, uint64_t count) {
  Layout layout;
  for (uint32_t rank = 0; rank < ranks; ++rank) {
    layout.counts.push_back(count);
    layout.displacements.push_back(Times(rank, count));
  }
  return layout;
}

void Barrier(Membership& group) { Agree(group, Plain(Command::kBarrier, HCCL_DATA_TYPE_INT8, 0)); }

// Each rank reduces its share of a piece, in place in its own slot, and all collect the shares.
void AllReduce(Membership& group, const std::byte* send, std::byte* receive, uint64_t count,
               Reduction reduction) {
  Agree(group, {Command::kAllReduce, reduction.type, reduction.operation, 0, count});
  const Staging staging(group, reduction.type, 1);
  for (uint64_t round = 0; round < PiecesOf(count, staging.capacity); ++round) {
    const Piece piece = PieceAt(round, staging.capacity, count);
    Copy(staging.block(group.rank(), 0), send + piece.begin * staging.size, piece.count * staging.size);
    group.Synchronize();
    const Piece share = ShareOf(piece.count, group.rank(), group.ranks());
    const size_t offset = share.begin * staging.size;
    Reduce(reduction.type, reduction.operation, SlotsAt(group, offset),
           staging.block(group.rank(), 0) + offset, share.count);
    group.Synchronize();
    for (uint32_t peer = 0; peer < group.ranks(); ++peer) {
      const Piece part = ShareOf(piece.count, peer, group.ranks());
      Copy(receive + (piece.begin + part.begin) * staging.size,
           staging.block(peer, 0) + part.begin * staging.size, part.count * staging.size);
    }
    group.Synchronize();
  }
}

void ReduceToRoot(Membership& group, const std::byte* send, std::byte* receive, uint64_t count,
                  Reduction reduction, uint32_t root) {
  Agree(group, {Command::kReduce, reduction.type, reduction.operation, root, count});
  const Staging staging(group, reduction.type, 1);
  for (uint64_t round = 0; round < PiecesOf(count, staging.capacity); ++round) {
    const Piece piece = PieceAt(round, staging.capacity, count);
    const size_t offset = piece.begin * staging.size;
    Copy(staging.block(group.rank(), 0), send + offset, piece.count * staging.size);
    group.Synchronize();
    if (group.rank() == root) {
      Reduce(reduction.type, reduction.operation, SlotsAt(group, 0), receive + offset, piece.count);
    }
    group.Synchronize();
  }
}

void Broadcast(Membership& group, std::byte* buffer, uint64_t count, HcclDataType type, uint32_t root) {
  Agree(group, Plain(Command::kBroadcast, type, count, root));
  const Staging staging(group, type, 1);
  for (uint64_t round = 0; round < PiecesOf(count, staging.capacity); ++round) {
    const Piece piece = PieceAt(round, staging.capacity, count);
    std::byte* place = buffer + piece.begin * staging.size;
    const size_t bytes = piece.count * staging.size;
    if (group.rank() == root) Copy(staging.block(root, 0), place, bytes);
    group.Synchronize();
    if (group.rank() != root) Copy(place, staging.block(root, 0), bytes);
    group.Synchronize();
  }
}

void Scatter(Membership& group, const std::byte* send, std::byte* receive, uint64_t count, HcclDataType type,
             uint32_t root) {
  Agree(group, Plain(Command::kScatter, type, count, root));
  const Staging staging(group, type, group.ranks());
  for (uint64_t round = 0; round < PiecesOf(count, staging.capacity); ++round) {
    const Piece piece = PieceAt(round, staging.capacity, count);
    const size_t bytes = piece.count * staging.size;
    for (uint32_t peer = 0; group.rank() == root && peer < group.ranks(); ++peer) {
      Copy(staging.block(root, peer), send + (peer * count + piece.begin) * staging.size, bytes);
    }
    group.Synchronize();
    Copy(receive + piece.begin * staging.size, staging.block(root, group.rank()), bytes);
    group.Synchronize();
  }
}

void ReduceScatter(Membership& group, const std::byte* send, const Layout& layout, std::byte* receive,
                   Reduction reduction, Command command) {
  const uint64_t count = layout.counts[group.rank()];
  const uint64_t largest = Largest(layout.counts);
  Agree(group, {command, reduction.type, reduction.operation, 0, largest}, layout.counts);
  RequireSameCounts(group, command, layout.counts);
  const Staging staging(group, reduction.type, group.ranks());
  for (uint64_t round = 0; round < PiecesOf(largest, staging.capacity); ++round) {
    for (uint32_t peer = 0; peer < group.ranks(); ++peer) {
      const Piece piece = PieceAt(round, staging.capacity, layout.counts[peer]);
      Copy(staging.block(group.rank(), peer),
           send + (layout.displacements[peer] + piece.begin) * staging.size, piece.count * staging.size);
    }
    group.Synchronize();
    const Piece piece = PieceAt(round, staging.capacity, count);
    Reduce(reduction.type, reduction.operation,
           SlotsAt(group, group.rank() * staging.capacity * staging.size),
           receive + piece.begin * staging.size, piece.count);
    group.Synchronize();
  }
}

void AllGather(Membership& group, const std::byte* send, std::byte* receive, const Layout& layout,
               HcclDataType type, Command command) {
  const uint64_t count = layout.counts[group.rank()];
  const uint64_t largest = Largest(layout.counts);
  Agree(group, Plain(command, type, largest), layout.counts);
  RequireSameCounts(group, command, layout.counts);
  const Staging staging(group, type, 1);
  for (uint64_t round = 0; round < PiecesOf(largest, staging.capacity); ++round) {
    const Piece own = PieceAt(round, staging.capacity, count);
    Copy(staging.block(group.rank(), 0), send + own.begin * staging.size, own.count * staging.size);
    group.Synchronize();
    for (uint32_t peer = 0; peer < group.ranks(); ++peer) {
      const Piece piece = PieceAt(round, staging.capacity, layout.counts[peer]);
      Copy(receive + (layout.displacements[peer] + piece.begin) * staging.size, staging.block(peer, 0),
           piece.count * staging.size);
    }
    group.Synchronize();
  }
}

void AllToAll(Membership& group, const std::byte* send, const Layout& sends, std::byte* receive,
              const Layout& receives, HcclDataType type, Command command) {
  Agree(group, Plain(command, type, 0), sends.counts);
  RequireMatchingCounts(group, command, receives);
  const Staging staging(group, type, group.ranks());
  const uint64_t rounds = PiecesOf(LargestExchange(group), staging.capacity);
  for (uint64_t round = 0; round < rounds; ++round) {
    for (uint32_t peer = 0; peer < group.ranks(); ++peer) {
      const Piece piece = PieceAt(round, staging.capacity, sends.counts[peer]);
      Copy(staging.block(group.rank(), peer), send + (sends.displacements[peer] + piece.begin) * staging.size,
           piece.count * staging.size);
    }
    group.Synchronize();
    for (uint32_t peer = 0; peer < group.ranks(); ++peer) {
      const Piece piece = PieceAt(round, staging.capacity, receives.counts[peer]);
      Copy(receive + (receives.displacements[peer] + piece.begin) * staging.size,
           staging.block(peer, group.rank()), piece.count * staging.size);
    }
    group.Synchronize();
  }
}

}  // namespace simulator::hccl
