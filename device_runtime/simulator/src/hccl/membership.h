#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "segment.h"
#include "settings.h"

namespace simulator::hccl {

struct Identity {
  std::string key;   // unique, the same on all ranks
  std::string name;  // for people; the caller may choose it
};

// Whom a rank waits for, and for what.
struct Awaited {
  std::vector<uint32_t> ranks;
  std::string what;
};

// One rank's membership in a group of ranks. Ranks may be processes or threads of one process.
//
// The group breaks as a whole: the first rank that fails marks the shared segment, the others stop waiting
// and report the same code. Operations given to different streams do not overlap, but only operations on one
// stream are certain to run in the order they were given.
class Membership {
 public:
  Membership(std::shared_ptr<Segment> segment, uint32_t rank, Identity identity, Duration execution_timeout);

  uint32_t rank() const { return rank_; }
  uint32_t ranks() const { return segment_->ranks(); }
  const std::string& name() const { return identity_.name; }
  Segment& segment() { return *segment_; }

  // This rank's part of the next collective, and a rank's part of the one begun last.
  Call& BeginCall();
  const Call& CallOf(uint32_t peer) { return segment_->state(peer).calls[calls_ % 2]; }

  // The code that broke the group, else HCCL_SUCCESS.
  HcclResult status();
  void Break(HcclResult code);

  // Whether the links between the ranks are still to be set up, as the first task does.
  bool LinksAtFirst() { return !linked_.exchange(true, std::memory_order_acq_rel); }

  // Called when the communicator is destroyed: tasks still waiting give up after a moment instead of keeping
  // the process alive for the execution timeout.
  void Close();

  // Returns when `ready` holds. Throws when the group breaks, when a rank that is awaited has died, or when
  // the timeout passes.
  void WaitUntil(const std::function<bool()>& ready, const std::function<Awaited()>& awaited);

  // Returns when every rank has made the same number of calls.
  void Synchronize();

  void RingPeer(uint32_t peer);

  // "rank 3 (process 1234, device 3)"
  std::string Describe(uint32_t rank);

  // One task at a time may use the slots, and one the mailbox of a direction between two ranks.
  std::mutex& collective_lane() { return collective_lane_; }
  std::mutex& sending_lane(uint32_t peer) { return sending_lanes_[peer]; }
  std::mutex& receiving_lane(uint32_t peer) { return receiving_lanes_[peer]; }

 private:
  using Clock = std::chrono::steady_clock;

  // One waiting: since when, and since when a rank it waits for has been gone.
  struct Wait {
    Clock::time_point started;
    Clock::time_point next_look;  // looking whether somebody has gone takes a system call for each
    std::optional<Clock::time_point> lost;
  };

  RankState& state() { return segment_->state(rank_); }
  void RefuseWhenBroken(const std::function<Awaited()>& awaited);
  void RefuseWhenLate(const Wait& wait, const std::function<Awaited()>& awaited);
  void RefuseWhenLost(Wait* wait, const std::function<Awaited()>& awaited);
  [[noreturn]] void Refuse(const Awaited& awaited, const std::string& reason);
  Awaited Missing(uint32_t target);
  std::string Describe(const std::vector<uint32_t>& ranks);

  std::shared_ptr<Segment> segment_;
  uint32_t rank_;
  Identity identity_;
  Duration execution_timeout_;
  Duration heartbeat_timeout_;
  std::atomic<Clock::rep> closed_at_{0};
  std::atomic<bool> linked_{false};
  uint32_t calls_ = 0;
  std::mutex collective_lane_;
  std::vector<std::mutex> sending_lanes_;
  std::vector<std::mutex> receiving_lanes_;
};

}  // namespace simulator::hccl
