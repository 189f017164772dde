#include "point_to_point.h"

#include <algorithm>
#include <cstring>
#include <deque>
#include <map>
#include <utility>

#include "element.h"
#include "failure.h"

namespace simulator::hccl {
namespace {

// A transfer under way. Step moves one piece if the mailbox allows.
class Progress {
 public:
  Progress(Communicator& group, const Transfer& transfer)
      : group_(group),
        transfer_(transfer),
        sends_(transfer.direction == Transfer::Direction::kSend),
        mailbox_(sends_ ? group.segment().mailbox(group.rank(), transfer.peer)
                        : group.segment().mailbox(transfer.peer, group.rank())),
        bytes_(transfer.count * ElementSize(transfer.type)) {}

  bool finished() const { return finished_; }

  bool CanStep() const {
    const bool full =
        mailbox_.written.load(std::memory_order_acquire) != mailbox_.read.load(std::memory_order_acquire);
    return full != sends_;
  }

  void Step() { sends_ ? StepOfSender() : StepOfReceiver(); }

  std::string Awaited() const {
    return "rank " + std::to_string(transfer_.peer) + (sends_ ? " to receive " : " to send ") +
           std::to_string(transfer_.count) + " x " + Name(transfer_.type);
  }

 private:
  // Also a transfer of nothing moves one piece, so that both sides meet.
  bool AllMoved() const { return started_ && moved_ == bytes_; }

  void StepOfSender() {
    Require(mailbox_.refused.load(std::memory_order_acquire) == 0, HCCL_E_PARA,
            "EI0005: rank " + std::to_string(transfer_.peer) + " expected something else than " +
                std::to_string(transfer_.count) + " x " + Name(transfer_.type));
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
    if (expected) {
      Move(transfer_.buffer + moved_, mailbox_.data);
    } else {
      mailbox_.refused.store(1, std::memory_order_release);
    }
    const std::string offered = std::to_string(mailbox_.count) + " x " + Name(mailbox_.type);
    mailbox_.read.fetch_add(1, std::memory_order_acq_rel);
    group_.RingPeer(transfer_.peer);
    Require(expected, HCCL_E_PARA,
            "EI0005: rank " + std::to_string(group_.rank()) + " expects " + std::to_string(transfer_.count) +
                " x " + Name(transfer_.type) + " from rank " + std::to_string(transfer_.peer) +
                ", which sends " + offered);
    finished_ = AllMoved();
  }

  void Move(std::byte* destination, const std::byte* source) {
    const size_t bytes = std::min(kMailboxBytes, bytes_ - moved_);
    if (bytes > 0) std::memcpy(destination, source, bytes);
    moved_ += bytes;
    started_ = true;
  }

  Communicator& group_;
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

std::unique_lock<std::mutex> Lock(Communicator& group, const Lane& lane) {
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

std::string Awaited(const Lanes& lanes) {
  std::string text;
  for (const auto& [lane, queue] : lanes) {
    if (!queue.empty()) text += (text.empty() ? "" : ", ") + queue.front().Awaited();
  }
  return text;
}

}  // namespace

void Exchange(Communicator& group, const std::vector<Transfer>& transfers) {
  Lanes lanes;
  for (const Transfer& transfer : transfers) {
    lanes[{transfer.direction, transfer.peer}].emplace_back(group, transfer);
  }
  // Always in the order of the map, so that two exchanges never wait for each other's lanes.
  std::vector<std::unique_lock<std::mutex>> locks;
  for (const auto& entry : lanes) locks.push_back(Lock(group, entry.first));
  while (!Finished(lanes)) {
    if (Advance(lanes)) continue;
    group.WaitUntil([&] { return CanAdvance(lanes); }, [&] { return Awaited(lanes); });
  }
}

}  // namespace simulator::hccl
