#include "quantize.h"

#include "store.h"

namespace simulator::operators {
namespace {

constexpr int64_t kPacked = 8;  // int4 numbers in an int32
constexpr int64_t kHasOffset = int64_t{1} << 46;
constexpr int64_t kOffsetShift = 37;

at::Tensor Unpacked(Tensor packed) {
  const auto shifts = at::arange(0, 32, 4, packed.options());
  const auto nibbles = at::bitwise_and(at::bitwise_right_shift(packed.unsqueeze(-1), shifts), 15).flatten(-2);
  return at::where(nibbles > 7, nibbles - 16, nibbles);
}

at::Tensor Packed(Tensor numbers) {
  const auto nibbles = at::bitwise_and(numbers.to(at::kLong), 15).unflatten(-1, {-1, kPacked});
  const auto shifts = at::arange(0, 32, 4, nibbles.options());
  return at::bitwise_left_shift(nibbles, shifts)
      .sum(-1)
      .to(at::kInt);  // wraps the highest nibble to the sign
}

// The bits of a float, and back.
at::Tensor Bits(Tensor floats) { return floats.contiguous().view(at::kInt).to(at::kLong); }

at::Tensor FromBits(Tensor bits) { return bits.to(at::kInt).contiguous().view(at::kFloat); }

}  // namespace

QuantRange RangeOf(at::ScalarType dtype) {
  switch (dtype) {
    case at::kChar:
      return {-128, 127};
    case at::kByte:
      return {0, 255};
    case at::kInt:
      return {-8, 7};
    case at::kFloat8_e4m3fn:
      return {-448, 448};
    case at::kFloat8_e5m2:
      return {-57344, 57344};
    default:
      TORCH_CHECK_TYPE(false, "a quantisation to ", dtype, " is not implemented");
  }
}

void CheckHolds(Tensor quantised, at::IntArrayRef sizes) {
  RangeOf(quantised.scalar_type());
  auto shape = sizes.vec();
  if (quantised.scalar_type() == at::kInt && !shape.empty()) {
    TORCH_CHECK_VALUE(shape.back() % kPacked == 0, shape.back(), " int4 numbers do not fill int32 elements");
    shape.back() /= kPacked;
  }
  TORCH_CHECK_VALUE(quantised.sizes() == at::IntArrayRef(shape), "the quantised result has shape ", shape,
                    ", the output tensor ", quantised.sizes());
}

at::Tensor Rounded(Tensor values, const std::string& mode) {
  if (mode == "floor") return at::floor(values);
  if (mode == "ceil") return at::ceil(values);
  if (mode == "trunc") return at::trunc(values);
  TORCH_CHECK_VALUE(mode.empty() || mode == "rint" || mode == "round", "the rounding mode ", mode,
                    " is not implemented");
  return at::round(values);
}

void StoreQuantised(Out out, Tensor values, const std::string& mode) {
  const auto dtype = out.scalar_type();
  const auto range = RangeOf(dtype);
  if (c10::isFloat8Type(dtype)) {
    out.copy_(values.clamp(range.least, range.greatest));
    return;
  }
  const auto integers = at::nan_to_num(Rounded(values, mode), 0).clamp(range.least, range.greatest);
  out.copy_(dtype == at::kInt ? Packed(integers) : integers);
}

at::Tensor Dequantised(Tensor quantised) {
  return (quantised.scalar_type() == at::kInt ? Unpacked(quantised) : quantised).to(at::kFloat);
}

at::Tensor DequantisedMatrix(Tensor quantised) {
  const bool transposed = quantised.dim() >= 2 && quantised.stride(-2) == 1 && quantised.stride(-1) != 1;
  if (!transposed) return Dequantised(quantised);
  return Dequantised(quantised.transpose(-1, -2)).transpose(-1, -2);
}

std::vector<int64_t> MatrixShape(Tensor matrix) {
  auto shape = matrix.sizes().vec();
  if (matrix.scalar_type() != at::kInt) return shape;
  const bool transposed = matrix.stride(-2) == 1 && matrix.stride(-1) != 1;
  shape[shape.size() - (transposed ? 2 : 1)] *= 8;
  return shape;
}

std::vector<int64_t> ProductShape(const std::vector<int64_t>& left, const std::vector<int64_t>& right) {
  TORCH_CHECK_VALUE(left.back() == right[right.size() - 2], "matrices of shapes ", left, " and ", right,
                    " cannot be multiplied");
  auto shape = at::infer_size(at::IntArrayRef(left).slice(0, left.size() - 2),
                              at::IntArrayRef(right).slice(0, right.size() - 2));
  shape.push_back(left[left.size() - 2]);
  shape.push_back(right.back());
  return shape;
}

at::Tensor PackedScale(Tensor scale, const std::optional<at::Tensor>& offset, bool round) {
  auto bits = Bits(scale.to(at::kFloat));
  if (round)
    bits =
        bits + 0xFFF + at::bitwise_and(at::bitwise_right_shift(bits, 13), 1);  // to the nearest, ties to even
  auto packed = at::bitwise_or(at::bitwise_and(bits, 0xFFFFE000), kHasOffset);
  if (!offset) return packed;
  const auto integers = at::round(offset->to(at::kFloat)).clamp(-256, 255).to(at::kLong);
  return at::bitwise_or(packed, at::bitwise_left_shift(at::bitwise_and(integers, 0x1FF), kOffsetShift));
}

bool IsPacked(Tensor scale) { return scale.scalar_type() == at::kLong || scale.scalar_type() == at::kUInt64; }

at::Tensor ScaleOf(Tensor packedOrFloat) {
  if (!IsPacked(packedOrFloat)) return packedOrFloat.to(at::kFloat);
  return FromBits(packedOrFloat.contiguous().view(at::kInt).unflatten(-1, {-1, 2}).select(-1, 0));
}

at::Tensor OffsetOf(Tensor packed) {
  const auto bits = packed.contiguous().view(at::kLong);
  const auto field = at::bitwise_and(at::bitwise_right_shift(bits, kOffsetShift), 0x1FF);
  return at::where(field > 255, field - 512, field).to(at::kFloat);
}

DynamicallyQuantised QuantiseRows(Tensor x, double greatest) {
  const auto scale = x.abs().amax(-1, true) / greatest;
  return {x / scale.masked_fill(scale == 0, 1), scale.squeeze(-1)};
}

at::Tensor GroupOfRows(Tensor groups, bool counts, int64_t rows) {
  const auto numbers = groups.to(at::kLong).flatten();
  const auto ends = counts ? numbers.cumsum(0) : numbers;
  const auto group = at::searchsorted(ends.contiguous(), at::arange(rows, ends.options()), false, true);
  return at::where(group == ends.numel(), -1, group);
}

}  // namespace simulator::operators
