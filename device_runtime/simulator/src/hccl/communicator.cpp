#include "communicator.h"

#include <sched.h>
#include <unistd.h>

#include <utility>

#include "failure.h"

namespace simulator::hccl {
namespace {

constexpr Seconds kPatienceAfterClose{5};
constexpr int64_t kLongestSleepMilliseconds = 200;
constexpr int kYieldsBeforeSleep = 50;

// Counters wrap; ranks are never half a range apart.
bool Reached(uint32_t counter, uint32_t target) { return static_cast<int32_t>(counter - target) >= 0; }

}  // namespace

Communicator::Communicator(std::shared_ptr<Segment> segment, uint32_t rank, Identity identity,
                           Seconds execution_timeout)
    : segment_(std::move(segment)),
      rank_(rank),
      identity_(std::move(identity)),
      execution_timeout_(execution_timeout),
      sending_lanes_(segment_->ranks()),
      receiving_lanes_(segment_->ranks()) {
  state().process.store(getpid(), std::memory_order_release);
}

Call& Communicator::BeginCall() {
  ++calls_;
  return state().calls[calls_ % 2];
}

HcclResult Communicator::status() {
  return static_cast<HcclResult>(segment_->failure().load(std::memory_order_acquire));
}

void Communicator::Break(HcclResult code) {
  int32_t intact = HCCL_SUCCESS;
  segment_->failure().compare_exchange_strong(intact, code, std::memory_order_acq_rel);
  for (uint32_t peer = 0; peer < ranks(); ++peer) RingPeer(peer);
}

void Communicator::Close() {
  closed_at_.store(Clock::now().time_since_epoch().count(), std::memory_order_release);
  RingPeer(rank_);
}

void Communicator::WaitUntil(const std::function<bool()>& ready,
                             const std::function<std::string()>& awaited) {
  const auto started = Clock::now();
  for (int yields = 0;;) {
    const uint32_t seen = state().doorbell.load(std::memory_order_acquire);
    if (ready()) return;
    RefuseWhenBrokenOrLate(started, awaited);
    if (yields < kYieldsBeforeSleep) {
      ++yields;
      sched_yield();
    } else {
      Listen(state().doorbell, seen, kLongestSleepMilliseconds);
    }
  }
}

void Communicator::RefuseWhenBrokenOrLate(Clock::time_point started,
                                          const std::function<std::string()>& awaited) {
  const HcclResult broken = status();
  if (broken != HCCL_SUCCESS) {
    Throw(broken, "communicator " + name() + " was broken by another rank (" + HcclGetErrorString(broken) +
                      ") while rank " + std::to_string(rank_) + " waited for " + awaited());
  }
  const auto now = Clock::now();
  if (execution_timeout_.count() > 0 && now - started >= execution_timeout_) {
    Throw(HCCL_E_TIMEOUT, "EI0002: rank " + std::to_string(rank_) + " of communicator " + name() +
                              " waited " + std::to_string(execution_timeout_.count()) +
                              " s (HCCL_EXEC_TIMEOUT) for " + awaited());
  }
  const Clock::rep closed_at = closed_at_.load(std::memory_order_acquire);
  if (closed_at != 0 && now.time_since_epoch() - Clock::duration(closed_at) >= kPatienceAfterClose) {
    Throw(HCCL_E_UNAVAIL, "communicator " + name() + " was destroyed while rank " + std::to_string(rank_) +
                              " still waited for " + awaited());
  }
}

void Communicator::Synchronize() {
  const uint32_t target = state().arrivals.fetch_add(1, std::memory_order_acq_rel) + 1;
  for (uint32_t peer = 0; peer < ranks(); ++peer) {
    if (peer != rank_) RingPeer(peer);
  }
  for (uint32_t peer = 0; peer < ranks(); ++peer) {
    const auto& arrivals = segment_->state(peer).arrivals;
    WaitUntil([&] { return Reached(arrivals.load(std::memory_order_acquire), target); },
              [&] { return MissingRanks(target); });
  }
}

std::string Communicator::MissingRanks(uint32_t target) {
  std::string missing;
  for (uint32_t peer = 0; peer < ranks(); ++peer) {
    RankState& other = segment_->state(peer);
    if (Reached(other.arrivals.load(std::memory_order_acquire), target)) continue;
    missing += (missing.empty() ? "rank " : ", rank ") + std::to_string(peer) + " (process " +
               std::to_string(other.process.load(std::memory_order_acquire)) + ")";
  }
  return missing.empty() ? "the other ranks" : missing;
}

void Communicator::RingPeer(uint32_t peer) { Ring(segment_->state(peer).doorbell); }

}  // namespace simulator::hccl
