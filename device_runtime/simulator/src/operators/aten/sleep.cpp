// Keeping a stream busy.
#include <chrono>
#include <thread>

#include "binding.h"

ACLNN(Sleep, [](Sizes cycles) {
  TORCH_CHECK_VALUE(cycles.size() == 1 && cycles[0] > 0, "one positive number of cycles is needed");
  std::this_thread::sleep_for(std::chrono::nanoseconds(cycles[0]));  // the simulated cycle is a nanosecond
});
