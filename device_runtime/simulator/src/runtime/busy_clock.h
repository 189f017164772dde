#pragma once

#include <chrono>
#include <cstdint>
#include <mutex>

namespace simulator {

// The share of the time in which at least one thing ran, from one question to the next.
class BusyClock {
 public:
  void Begin();
  void End();
  int32_t TakePercent();

 private:
  using Clock = std::chrono::steady_clock;

  void Count(Clock::time_point now);

  std::mutex mutex_;
  int running_ = 0;
  Clock::time_point counted_ = Clock::now();  // up to here the time is in busy_
  Clock::time_point asked_ = counted_;
  Clock::duration busy_{};
};

// One thing that runs while this lives.
class Busy {
 public:
  explicit Busy(BusyClock& clock) : clock_(clock) { clock_.Begin(); }
  Busy(const Busy&) = delete;
  Busy& operator=(const Busy&) = delete;
  ~Busy() { clock_.End(); }

 private:
  BusyClock& clock_;
};

}  // namespace simulator
