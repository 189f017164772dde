#include "membership.h"

#include <sched.h>

#include <algorithm>
#include <iterator>
#include <sstream>
#include <utility>

#include "failure.h"
#include "reports.h"

namespace simulator::hccl {
namespace {

constexpr std::chrono::seconds kPatienceAfterClose{5};
constexpr int64_t kLongestSleepMilliseconds = 200;
constexpr std::chrono::milliseconds kBetweenLooks{kLongestSleepMilliseconds};
constexpr int kYieldsBeforeSleep = 50;

// Counters wrap; ranks are never half a range apart.
bool Reached(uint32_t counter, uint32_t target) { return static_cast<int32_t>(counter - target) >= 0; }

std::string Seconds(Duration duration) {
  std::ostringstream text;
  text << static_cast<double>(duration.count()) / 1000 << "s";
  return text.str();
}

}  // namespace

Membership::Membership(std::shared_ptr<Segment> segment, uint32_t rank, Identity identity,
                       Duration execution_timeout)
    : segment_(std::move(segment)),
      rank_(rank),
      identity_(std::move(identity)),
      execution_timeout_(execution_timeout),
      heartbeat_timeout_(HeartbeatTimeout()),
      sending_lanes_(segment_->ranks()),
      receiving_lanes_(segment_->ranks()) {}

Call& Membership::BeginCall() {
  ++calls_;
  return state().calls[calls_ % 2];
}

HcclResult Membership::status() {
  return static_cast<HcclResult>(segment_->failure().load(std::memory_order_acquire));
}

void Membership::Break(HcclResult code) {
  int32_t intact = HCCL_SUCCESS;
  segment_->failure().compare_exchange_strong(intact, code, std::memory_order_acq_rel);
  for (uint32_t peer = 0; peer < ranks(); ++peer) RingPeer(peer);
}

void Membership::Close() {
  closed_at_.store(Clock::now().time_since_epoch().count(), std::memory_order_release);
  RingPeer(rank_);
}

void Membership::WaitUntil(const std::function<bool()>& ready, const std::function<Awaited()>& awaited) {
  Wait wait{Clock::now(), Clock::now() + kBetweenLooks, std::nullopt};
  for (int yields = 0;;) {
    const uint32_t seen = state().doorbell.load(std::memory_order_acquire);
    if (ready()) return;
    RefuseWhenBroken(awaited);
    if (yields < kYieldsBeforeSleep) {
      ++yields;
      sched_yield();
      continue;
    }
    RefuseWhenLate(wait, awaited);
    RefuseWhenLost(&wait, awaited);
    Listen(state().doorbell, seen, kLongestSleepMilliseconds);
  }
}

void Membership::RefuseWhenBroken(const std::function<Awaited()>& awaited) {
  const HcclResult broken = status();
  if (broken == HCCL_SUCCESS) return;
  Throw(broken, "communicator " + name() + " was broken by another rank (" + HcclGetErrorString(broken) +
                    ") while rank " + std::to_string(rank_) + " waited for " + awaited().what);
}

void Membership::RefuseWhenLate(const Wait& wait, const std::function<Awaited()>& awaited) {
  const auto now = Clock::now();
  if (execution_timeout_.count() > 0 && now - wait.started >= execution_timeout_) {
    Refuse(awaited(), "HCCL_EXEC_TIMEOUT of " + Seconds(execution_timeout_) + " has passed");
  }
  const Clock::rep closed_at = closed_at_.load(std::memory_order_acquire);
  if (closed_at != 0 && now.time_since_epoch() - Clock::duration(closed_at) >= kPatienceAfterClose) {
    Throw(HCCL_E_UNAVAIL, "communicator " + name() + " was destroyed while rank " + std::to_string(rank_) +
                              " still waited for " + awaited().what);
  }
}

// Hardware tells of the lost heartbeat in its log and waits for HCCL_EXEC_TIMEOUT all the same. Half an hour
// of that teaches nobody anything.
void Membership::RefuseWhenLost(Wait* wait, const std::function<Awaited()>& awaited) {
  const auto now = Clock::now();
  if (now < wait->next_look) return;
  wait->next_look = now + kBetweenLooks;
  const Awaited waiting = awaited();
  std::vector<uint32_t> lost;
  std::copy_if(waiting.ranks.begin(), waiting.ranks.end(), std::back_inserter(lost),
               [this](uint32_t rank) { return !segment_->Present(rank); });
  if (lost.empty()) {
    wait->lost.reset();
    return;
  }
  if (!wait->lost) wait->lost = now;
  if (now - *wait->lost < heartbeat_timeout_) return;
  Refuse(waiting, "there are(is) " + std::to_string(lost.size()) +
                      " abnormal device(s): Cluster Exception Location: " + Describe(lost) +
                      ", ExceptionType:[Heartbeat Lost Occurred], Possible Reason:1. Process has exited, "
                      "2. Network Disconnected");
}

void Membership::Refuse(const Awaited& awaited, const std::string& reason) {
  Throw(HCCL_E_TIMEOUT, NotifyTimeout(Describe(awaited.ranks), awaited.what, reason,
                                      "group:[" + name() + "], rankSize[" + std::to_string(ranks()) +
                                          "], rankId[" + std::to_string(rank_) + "]"));
}

void Membership::Synchronize() {
  const uint32_t target = state().arrivals.fetch_add(1, std::memory_order_acq_rel) + 1;
  for (uint32_t peer = 0; peer < ranks(); ++peer) {
    if (peer != rank_) RingPeer(peer);
  }
  for (uint32_t peer = 0; peer < ranks(); ++peer) {
    const auto& arrivals = segment_->state(peer).arrivals;
    WaitUntil([&] { return Reached(arrivals.load(std::memory_order_acquire), target); },
              [&] { return Missing(target); });
  }
}

Awaited Membership::Missing(uint32_t target) {
  Awaited missing;
  for (uint32_t peer = 0; peer < ranks(); ++peer) {
    const uint32_t arrivals = segment_->state(peer).arrivals.load(std::memory_order_acquire);
    if (!Reached(arrivals, target)) missing.ranks.push_back(peer);
  }
  missing.what = "the arrival of " + Describe(missing.ranks);
  return missing;
}

std::string Membership::Describe(uint32_t rank) {
  RankState& other = segment_->state(rank);
  return "rank " + std::to_string(rank) + " (process " +
         std::to_string(other.process.load(std::memory_order_acquire)) + ", device " +
         std::to_string(other.device.load(std::memory_order_acquire)) + ")";
}

std::string Membership::Describe(const std::vector<uint32_t>& ranks) {
  std::string text;
  for (const uint32_t rank : ranks) text += (text.empty() ? "" : ", ") + Describe(rank);
  return text.empty() ? "none" : text;
}

void Membership::RingPeer(uint32_t peer) { Ring(segment_->state(peer).doorbell); }

}  // namespace simulator::hccl
