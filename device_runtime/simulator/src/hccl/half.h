#pragma once

#include <cstdint>
#include <cstring>

namespace simulator::hccl {

// GCC 12 has no _Float16 in C++ for aarch64, so 16-bit floats are converted here, by their bits.

inline float FloatOfBits(uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof(value));
  return value;
}

inline uint32_t BitsOfFloat(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  return bits;
}

// Drops the lowest `dropped` bits, rounding to nearest, ties to even.
inline uint32_t RoundShift(uint32_t bits, unsigned dropped) {
  const uint32_t odd = (bits >> dropped) & 1U;
  return (bits + (1U << (dropped - 1)) - 1U + odd) >> dropped;
}

inline float FloatOfBfloat16(uint16_t bits) { return FloatOfBits(static_cast<uint32_t>(bits) << 16); }

inline uint16_t Bfloat16OfFloat(float value) {
  const uint32_t bits = BitsOfFloat(value);
  if (value != value) return static_cast<uint16_t>((bits >> 16) | 0x40U);
  return static_cast<uint16_t>(RoundShift(bits, 16));
}

inline float FloatOfHalf(uint16_t half) {
  const uint32_t bits = half;
  constexpr float kSubnormalUnit = 1.0F / (1U << 24);
  const uint32_t sign = (bits & 0x8000U) << 16;
  const uint32_t exponent = (bits >> 10) & 0x1FU;
  const uint32_t fraction = bits & 0x3FFU;
  if (exponent == 0) {
    return FloatOfBits(sign | BitsOfFloat(static_cast<float>(fraction) * kSubnormalUnit));
  }
  if (exponent == 0x1F) return FloatOfBits(sign | 0x7F800000U | (fraction << 13));
  return FloatOfBits(sign | ((exponent + 112U) << 23) | (fraction << 13));
}

inline uint16_t HalfOfFloat(float value) {
  const uint32_t bits = BitsOfFloat(value);
  const uint32_t sign = (bits >> 16) & 0x8000U;
  const uint32_t magnitude = bits & 0x7FFFFFFFU;
  if (magnitude > 0x7F800000U) return static_cast<uint16_t>(sign | 0x7E00U);
  if (magnitude >= 0x47800000U) return static_cast<uint16_t>(sign | 0x7C00U);  // 2^16 and beyond
  if (magnitude >= 0x38800000U) {                                              // 2^-14: normal
    return static_cast<uint16_t>(sign | RoundShift(magnitude - 0x38000000U, 13));
  }
  const unsigned shift = 126U - (magnitude >> 23);
  if (shift > 24U) return static_cast<uint16_t>(sign);
  return static_cast<uint16_t>(sign | RoundShift((magnitude & 0x7FFFFFU) | 0x800000U, shift));
}

}  // namespace simulator::hccl
