#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace probe {

struct MemoryInfo {
  size_t free;
  size_t total;
};

// Each of these throws DeviceFailure for a call that fails and Mismatch for data that came back wrong.

uint32_t DeviceCount();
std::string SocName();
std::optional<std::string> CannVersion();  // nothing where this CANN has no call for it

MemoryInfo GetMemoryInfo(int device);
void Allocate(int device, size_t bytes);  // and frees again

void CopyRoundTrip(int device, size_t bytes, uint64_t seed);

// Returns the milliseconds the device measured between its first and its last event.
float StreamEventOrder(int device, size_t bytes);

// One rank a device, all in this process; float32 sums. Returns the milliseconds each rank took.
std::vector<float> AllReduce(const std::vector<int>& devices, size_t elements);

}  // namespace probe
