#include "runtime/busy_clock.h"

#include <utility>

namespace simulator {

void BusyClock::Begin() {
  const std::lock_guard<std::mutex> lock(mutex_);
  Count(Clock::now());
  ++running_;
}

void BusyClock::End() {
  const std::lock_guard<std::mutex> lock(mutex_);
  Count(Clock::now());
  --running_;
}

int32_t BusyClock::TakePercent() {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto now = Clock::now();
  Count(now);
  const auto passed = now - std::exchange(asked_, now);
  const auto busy = std::exchange(busy_, {});
  return passed.count() == 0 ? 0 : static_cast<int32_t>(busy * 100 / passed);
}

void BusyClock::Count(Clock::time_point now) {
  if (running_ > 0) busy_ += now - counted_;
  counted_ = now;
}

}  // namespace simulator
