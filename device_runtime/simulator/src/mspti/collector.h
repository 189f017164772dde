#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "mspti.h"
#include "mspti/buffers.h"
#include "runtime/activity.h"

namespace simulator::mspti {

// Makes records of what it hears, of the kinds that are enabled.
class Collector : public ActivityListener {
 public:
  explicit Collector(Buffers& buffers);

  void Queued(const ActivityRun& run) override;
  void Ran(const ActivityRun& run) override;
  void Called(const HostCall& call) override;

 private:
  uint64_t SinceEpoch(uint64_t monotonic) const { return monotonic + shift_; }

  Buffers& buffers_;
  const uint64_t shift_;  // from the clock of activities to the epoch
};

// The kinds of which there are records at all.
bool IsCollected(msptiActivityKind kind);

std::atomic<bool>& Enabled(msptiActivityKind kind);  // of a kind that is collected

}  // namespace simulator::mspti
