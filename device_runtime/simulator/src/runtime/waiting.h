#pragma once

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>

#include "runtime/queue.h"

namespace simulator {

enum class Waited { kUntilDone, kTooLong, kInterrupted };

// Waits until `done`. A task of a stream gives up when its stream is to end, so that nobody is held up by
// what never comes.
template <class Done>
Waited WaitUntil(std::condition_variable& changed, std::unique_lock<std::mutex>& lock, Milliseconds timeout,
                 Done done) {
  using Clock = std::chrono::steady_clock;
  constexpr std::chrono::milliseconds kSlice{20};
  const auto deadline = Clock::now() + std::chrono::milliseconds(std::max(timeout, 0));
  while (!done()) {
    if (ThisStreamEnds()) return Waited::kInterrupted;
    const auto slice = timeout < 0 ? Clock::now() + kSlice : std::min(deadline, Clock::now() + kSlice);
    if (changed.wait_until(lock, slice, done)) return Waited::kUntilDone;
    if (timeout >= 0 && Clock::now() >= deadline) return Waited::kTooLong;
  }
  return Waited::kUntilDone;
}

}  // namespace simulator
