#pragma once

#include <ATen/CPUGeneratorImpl.h>

#include <functional>

#include "arguments.h"

// Random numbers. Each call names its seed and offset, so the same pair gives the same numbers; they are not
// the numbers that a device would give.
namespace simulator::operators {

// A generator that depends on seed and offset alone.
inline at::Generator GeneratorAt(int64_t seed, int64_t offset) {
  constexpr uint64_t kGoldenRatio = 0x9E3779B97F4A7C15;  // spreads neighbouring offsets over all bits
  return at::detail::createCPUGenerator(static_cast<uint64_t>(seed) ^
                                        (static_cast<uint64_t>(offset) * kGoldenRatio));
}

// Gives each run of a call its generator.
using Source = std::function<at::Generator()>;

inline Source From(int64_t seed, int64_t offset) {
  return [=] { return GeneratorAt(seed, offset); };
}

// In a captured graph, seed and offset are in device memory and the graph adds its own offset.
inline Source From(Tensor seed, Tensor base, int64_t offset) {
  return [=] { return GeneratorAt(seed.item<int64_t>(), base.item<int64_t>() + offset); };
}

}  // namespace simulator::operators
