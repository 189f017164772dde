#include "element.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <type_traits>

#include "failure.h"
#include "half.h"

namespace simulator::hccl {
namespace {

// How one data type is held in memory, and in which type it is combined.
template <typename T>
struct Plain {
  using Stored = T;
  using Value = T;
  static Value Load(Stored stored) { return stored; }
  static Stored Store(Value value) { return value; }
};

template <float (*kToFloat)(uint16_t), uint16_t (*kOfFloat)(float)>
struct Sixteen {
  using Stored = uint16_t;
  using Value = float;
  static Value Load(Stored stored) { return kToFloat(stored); }
  static Stored Store(Value value) { return kOfFloat(value); }
};

using Half = Sixteen<FloatOfHalf, HalfOfFloat>;
using Bfloat16 = Sixteen<FloatOfBfloat16, Bfloat16OfFloat>;

// Integers are added and multiplied as uint64_t: wrapping is then defined, and right for every width and
// sign.
template <typename T>
using Arithmetic = std::conditional_t<std::is_integral_v<T>, uint64_t, T>;

template <typename T>
T Sum(T a, T b) {
  return static_cast<T>(static_cast<Arithmetic<T>>(a) + static_cast<Arithmetic<T>>(b));
}

template <typename T>
T Product(T a, T b) {
  return static_cast<T>(static_cast<Arithmetic<T>>(a) * static_cast<Arithmetic<T>>(b));
}

template <typename T>
bool IsNan(T value) {
  if constexpr (std::is_floating_point_v<T>) {
    return std::isnan(value);
  } else {
    return false;
  }
}

// A NaN on either side stays a NaN.
template <typename T>
T Larger(T a, T b) {
  return a > b || IsNan(a) ? a : b;
}

template <typename T>
T Smaller(T a, T b) {
  return a < b || IsNan(a) ? a : b;
}

template <typename Format, typename Combine>
void Fold(const std::vector<const std::byte*>& sources, std::byte* destination, size_t count,
          Combine combine) {
  using Stored = typename Format::Stored;
  constexpr size_t kBlock = 1024;
  std::array<typename Format::Value, kBlock> block;
  for (size_t begin = 0; begin < count; begin += kBlock) {
    const size_t length = std::min(kBlock, count - begin);
    for (size_t source = 0; source < sources.size(); ++source) {
      const Stored* values = reinterpret_cast<const Stored*>(sources[source]) + begin;
      for (size_t i = 0; i < length; ++i) {
        const auto value = Format::Load(values[i]);
        block[i] = source == 0 ? value : combine(block[i], value);
      }
    }
    Stored* out = reinterpret_cast<Stored*>(destination) + begin;
    for (size_t i = 0; i < length; ++i) out[i] = Format::Store(block[i]);
  }
}

template <typename Format>
void ReduceAs(HcclReduceOp operation, const std::vector<const std::byte*>& sources, std::byte* destination,
              size_t count) {
  using Value = typename Format::Value;
  switch (operation) {
    case HCCL_REDUCE_SUM:
      return Fold<Format>(sources, destination, count, [](Value a, Value b) { return Sum(a, b); });
    case HCCL_REDUCE_PROD:
      return Fold<Format>(sources, destination, count, [](Value a, Value b) { return Product(a, b); });
    case HCCL_REDUCE_MAX:
      return Fold<Format>(sources, destination, count, [](Value a, Value b) { return Larger(a, b); });
    case HCCL_REDUCE_MIN:
      return Fold<Format>(sources, destination, count, [](Value a, Value b) { return Smaller(a, b); });
    default:
      Throw(HCCL_E_PARA, "reduction " + std::to_string(operation) + " does not exist");
  }
}

}  // namespace

size_t ElementSize(HcclDataType type) {
  switch (type) {
    case HCCL_DATA_TYPE_INT8:
    case HCCL_DATA_TYPE_UINT8:
    case HCCL_DATA_TYPE_HIF8:
    case HCCL_DATA_TYPE_FP8E4M3:
    case HCCL_DATA_TYPE_FP8E5M2:
    case HCCL_DATA_TYPE_FP8E8M0:
      return 1;
    case HCCL_DATA_TYPE_INT16:
    case HCCL_DATA_TYPE_UINT16:
    case HCCL_DATA_TYPE_FP16:
    case HCCL_DATA_TYPE_BFP16:
      return 2;
    case HCCL_DATA_TYPE_INT32:
    case HCCL_DATA_TYPE_UINT32:
    case HCCL_DATA_TYPE_FP32:
      return 4;
    case HCCL_DATA_TYPE_INT64:
    case HCCL_DATA_TYPE_UINT64:
    case HCCL_DATA_TYPE_FP64:
      return 8;
    case HCCL_DATA_TYPE_INT128:
      return 16;
    case HCCL_DATA_TYPE_RESERVED:
      break;
  }
  return 0;
}

const char* Name(HcclDataType type) {
  switch (type) {
    case HCCL_DATA_TYPE_INT8:
      return "int8";
    case HCCL_DATA_TYPE_INT16:
      return "int16";
    case HCCL_DATA_TYPE_INT32:
      return "int32";
    case HCCL_DATA_TYPE_FP16:
      return "float16";
    case HCCL_DATA_TYPE_FP32:
      return "float32";
    case HCCL_DATA_TYPE_INT64:
      return "int64";
    case HCCL_DATA_TYPE_UINT64:
      return "uint64";
    case HCCL_DATA_TYPE_UINT8:
      return "uint8";
    case HCCL_DATA_TYPE_UINT16:
      return "uint16";
    case HCCL_DATA_TYPE_UINT32:
      return "uint32";
    case HCCL_DATA_TYPE_FP64:
      return "float64";
    case HCCL_DATA_TYPE_BFP16:
      return "bfloat16";
    case HCCL_DATA_TYPE_INT128:
      return "int128";
    case HCCL_DATA_TYPE_HIF8:
      return "hif8";
    case HCCL_DATA_TYPE_FP8E4M3:
      return "fp8e4m3";
    case HCCL_DATA_TYPE_FP8E5M2:
      return "fp8e5m2";
    case HCCL_DATA_TYPE_FP8E8M0:
      return "fp8e8m0";
    case HCCL_DATA_TYPE_RESERVED:
      break;
  }
  return "unknown";
}

const char* Name(HcclReduceOp operation) {
  switch (operation) {
    case HCCL_REDUCE_SUM:
      return "sum";
    case HCCL_REDUCE_PROD:
      return "prod";
    case HCCL_REDUCE_MAX:
      return "max";
    case HCCL_REDUCE_MIN:
      return "min";
    case HCCL_REDUCE_RESERVED:
      break;
  }
  return "unknown";
}

void Reduce(HcclDataType type, HcclReduceOp operation, const std::vector<const std::byte*>& sources,
            std::byte* destination, size_t count) {
  switch (type) {
    case HCCL_DATA_TYPE_INT8:
      return ReduceAs<Plain<int8_t>>(operation, sources, destination, count);
    case HCCL_DATA_TYPE_INT16:
      return ReduceAs<Plain<int16_t>>(operation, sources, destination, count);
    case HCCL_DATA_TYPE_INT32:
      return ReduceAs<Plain<int32_t>>(operation, sources, destination, count);
    case HCCL_DATA_TYPE_INT64:
      return ReduceAs<Plain<int64_t>>(operation, sources, destination, count);
    case HCCL_DATA_TYPE_UINT8:
      return ReduceAs<Plain<uint8_t>>(operation, sources, destination, count);
    case HCCL_DATA_TYPE_UINT16:
      return ReduceAs<Plain<uint16_t>>(operation, sources, destination, count);
    case HCCL_DATA_TYPE_UINT32:
      return ReduceAs<Plain<uint32_t>>(operation, sources, destination, count);
    case HCCL_DATA_TYPE_UINT64:
      return ReduceAs<Plain<uint64_t>>(operation, sources, destination, count);
    case HCCL_DATA_TYPE_FP16:
      return ReduceAs<Half>(operation, sources, destination, count);
    case HCCL_DATA_TYPE_BFP16:
      return ReduceAs<Bfloat16>(operation, sources, destination, count);
    case HCCL_DATA_TYPE_FP32:
      return ReduceAs<Plain<float>>(operation, sources, destination, count);
    case HCCL_DATA_TYPE_FP64:
      return ReduceAs<Plain<double>>(operation, sources, destination, count);
    default:
      Throw(HCCL_E_NOT_SUPPORT, std::string("no reduction over ") + Name(type));
  }
}

}  // namespace simulator::hccl
