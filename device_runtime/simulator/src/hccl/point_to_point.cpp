#include "point_to_point.h"

#include <algorithm>
#include <cstring>
#include <deque>
#include <map>
#include <utility>

#include "element.h"
#include "failure.h"
#include "reports.h"

namespace simulator::hccl {
namespace {

std::string Amount(uint64_t count, HcclDataType type) { return std::to_string(count) + " x " + Name(type); }

// A transfer under way. Step moves one piece if the mailbox allows.
class Progress {
 public:
  Progress(Membership& group, const Transfer& transfer)
      : group_(group),
        transfer_(transfer),
        sends_(transfer.direction == Transfer::Direction::kSend),
        mailbox_(sends_ ? group.segment().mailbox(group.rank(), transfer.peer)
                        : group.segment().mailbox(transfer.peer, group.rank())),
        bytes_(transfer.count * ElementSize(transfer.type)) {}

  bool finished() const { return finished_; }

  bool CanStep() const {
    if (sends_ && mailbox_.refused.load(std::memory_order_acquire) != 0) return true;
    const bool full =
        mailbox_.written.load(std::memory_order_acquire) != mailbox_.read.load(std::memory_order_acquire);
    return full != sends_;
  }

  void Step() { sends_ ? StepOfSender() : StepOfReceiver(); }

  std::string Awaits() const {
    return "rank " + std::to_string(transfer_.peer) + (sends_ ? " to receive " : " to send ") +
           Amount(transfer_.count, transfer_.type);
  }

 private:
  // Also a transfer of nothing moves one piece, so that both sides meet.
  bool AllMoved() const { return started_ && moved_ == bytes_; }

  void StepOfSender() {
    if (mailbox_.refused.load(std::memory_order_acquire) != 0) RefuseDifference("another");
    if (AllMoved()) {
      finished_ = true;
      return;
    }
    mailbox_.type = transfer_.type;
    mailbox_.count = transfer_.count;
    Move(mailbox_.data, transfer_.buffer + moved_);
    mailbox_.written.fetch_add(1, std::memory_order_acq_rel);
    group_.RingPeer(transfer_.peer);
  }

  void StepOfReceiver() {
    const bool expected = mailbox_.count == transfer_.count && mailbox_.type == transfer_.type;
    if (!expected) {
      mailbox_.refused.store(1, std::memory_order_release);
      RefuseDifference(Amount(mailbox_.count, mailbox_.type));
    }
    Move(transfer_.buffer + moved_, mailbox_.data);
    mailbox_.read.fetch_add(1, std::memory_order_acq_rel);
    group_.RingPeer(transfer_.peer);
    finished_ = AllMoved();
  }

  // The other side finds out by the mailbox, or because the group breaks.
  [[noreturn]] void RefuseDifference(const std::string& theirs) {
    group_.RingPeer(transfer_.peer);
    const auto end = [](uint32_t rank, const std::string& value) {
      return std::to_string(rank) + ": " + value;
    };
    Throw(HCCL_E_PARA, InconsistentArguments(sends_ ? "Send" : "Receive", group_.name(), "count",
                                             end(group_.rank(), Amount(transfer_.count, transfer_.type)),
                                             end(transfer_.peer, theirs)));
  }

  void Move(std::byte* destination, const std::byte* source) {
    const size_t bytes = std::min(kMailboxBytes, bytes_ - moved_);
    if (bytes > 0) std::memcpy(destination, source, bytes);
    moved_ += bytes;
    started_ = true;
  }

  Membership& group_;
  Transfer transfer_;
  bool sends_;
  Mailbox& mailbox_;
  size_t bytes_;
  size_t moved_ = 0;
  bool started_ = false;
  bool finished_ = false;
};

using Lane = std::pair<Transfer::Direction, uint32_t>;
using Lanes = std::map<Lane, std::deque<Progress>>;

std::unique_lock<std::mutex> Lock(Membership& group, const Lane& lane) {
  const bool sends = lane.first == Transfer::Direction::kSend;
  return std::unique_lock<std::mutex>(sends ? group.sending_lane(lane.second)
                                            : group.receiving_lane(lane.second));
}

// Steps whatever can step; false if nothing could.
bool Advance(Lanes& lanes) {
  bool moved = false;
  for (auto& [lane, queue] : lanes) {
    while (!queue.empty() && queue.front().CanStep()) {
      queue.front().Step();
      moved = true;
      if (queue.front().finished()) queue.pop_front();
    }
  }
  return moved;
}

bool Finished(const Lanes& lanes) {
  return std::all_of(lanes.begin(), lanes.end(), [](const auto& lane) { return lane.second.empty(); });
}

bool CanAdvance(const Lanes& lanes) {
  return std::any_of(lanes.begin(), lanes.end(),
                     [](const auto& lane) { return !lane.second.empty() && lane.second.front().CanStep(); });
}

Awaited AwaitedBy(const Lanes& lanes) {
  Awaited awaited;
  for (const auto& [lane, queue] : lanes) {
    if (queue.empty()) continue;
    awaited.ranks.push_back(lane.second);
    awaited.what += (awaited.what.empty() ? "" : ", ") + queue.front().Awaits();
  }
  return awaited;
}

}  // namespace

void Exchange(Membership& group, const std::vector<Transfer>& transfers) {
  Lanes lanes;
  for (const Transfer& transfer : transfers) {
    lanes[{transfer.direction, transfer.peer}].emplace_back(group, transfer);
  }
  // Always in the order of the map, so that two exchanges never wait for each other's lanes.
  std::vector<std::unique_lock<std::mutex>> locks;
  for (const auto& entry : lanes) locks.push_back(Lock(group, entry.first));
  while (!Finished(lanes)) {
    if (Advance(lanes)) continue;
    group.WaitUntil([&] { return CanAdvance(lanes); }, [&] { return AwaitedBy(lanes); });
  }
}

}  // namespace simulator::hccl
