#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "segment.h"
#include "settings.h"

namespace simulator::hccl {

struct Identity {
  std::string key;   // unique, the same on all ranks
  std::string name;  // for people; the caller may choose it
};

// One rank's membership in a group of ranks. Ranks may be processes or threads of one process.
//
// The communicator breaks as a whole: the first rank that fails marks the shared segment, the others stop
// waiting and report the same code. Operations given to different streams do not overlap, but only operations
// on one stream are certain to run in the order they were given.
class Communicator {
 public:
  Communicator(std::shared_ptr<Segment> segment, uint32_t rank, Identity identity, Seconds execution_timeout);

  uint32_t rank() const { return rank_; }
  uint32_t ranks() const { return segment_->ranks(); }
  const std::string& name() const { return identity_.name; }
  const std::string& key() const { return identity_.key; }
  Segment& segment() { return *segment_; }
  // This rank's part of the next collective, and a rank's part of the one begun last.
  Call& BeginCall();
  const Call& CallOf(uint32_t peer) { return segment_->state(peer).calls[calls_ % 2]; }

  // The code that broke the communicator, else HCCL_SUCCESS.
  HcclResult status();
  void Break(HcclResult code);

  // Called when the handle is destroyed: tasks still waiting give up after a moment instead of keeping the
  // process alive for the execution timeout.
  void Close();

  // Returns when `ready` holds. Throws when the communicator breaks or the timeout passes; `awaited` then
  // says what did not happen.
  void WaitUntil(const std::function<bool()>& ready, const std::function<std::string()>& awaited);

  // Returns when every rank has made the same number of calls.
  void Synchronize();

  void RingPeer(uint32_t peer);

  // One task at a time may use the slots, and one the mailbox of a direction between two ranks.
  std::mutex& collective_lane() { return collective_lane_; }
  std::mutex& sending_lane(uint32_t peer) { return sending_lanes_[peer]; }
  std::mutex& receiving_lane(uint32_t peer) { return receiving_lanes_[peer]; }

 private:
  using Clock = std::chrono::steady_clock;

  RankState& state() { return segment_->state(rank_); }
  void RefuseWhenBrokenOrLate(Clock::time_point started, const std::function<std::string()>& awaited);
  std::string MissingRanks(uint32_t target);

  std::shared_ptr<Segment> segment_;
  uint32_t rank_;
  Identity identity_;
  Seconds execution_timeout_;
  std::atomic<Clock::rep> closed_at_{0};
  uint32_t calls_ = 0;
  std::mutex collective_lane_;
  std::vector<std::mutex> sending_lanes_;
  std::vector<std::mutex> receiving_lanes_;
};

}  // namespace simulator::hccl
