#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>

#include "failure.h"

namespace probe {

// Bytes that differ from their neighbours and from one seed to the next (the splitmix64 sequence).
inline void FillPattern(uint8_t* bytes, size_t count, uint64_t seed) {
  for (size_t begin = 0; begin < count; begin += sizeof(uint64_t)) {
    uint64_t word = seed + (begin / sizeof(uint64_t) + 1) * 0x9E3779B97F4A7C15U;
    word = (word ^ (word >> 30)) * 0xBF58476D1CE4E5B9U;
    word = (word ^ (word >> 27)) * 0x94D049BB133111EBU;
    word ^= word >> 31;
    const size_t left = count - begin;
    std::memcpy(bytes + begin, &word, left < sizeof(word) ? left : sizeof(word));
  }
}

inline void RequireEqual(const uint8_t* expected, const uint8_t* found, size_t count, const char* after) {
  if (std::memcmp(expected, found, count) == 0) return;
  size_t first = 0;
  while (expected[first] == found[first]) ++first;
  char text[160];
  std::snprintf(text, sizeof(text), "byte %zu of %zu is 0x%02x instead of 0x%02x after %s", first, count,
                found[first], expected[first], after);
  throw Mismatch(text);
}

}  // namespace probe
