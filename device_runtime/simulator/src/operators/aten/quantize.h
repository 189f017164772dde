#pragma once

#include <string>

#include "checks.h"

// The small types of quantised tensors. An int32 tensor stands for eight int4 numbers an element, the first
// in the lowest bits, so its last dimension is an eighth of what it stands for.
namespace simulator::operators {

struct QuantRange {
  double least, greatest;
};

// Of the numbers that an output of this dtype holds; int32 means int4. Refuses dtypes that are no output of a
// quantisation.
QuantRange RangeOf(at::ScalarType dtype);

// Refuses an output that cannot hold `sizes` quantised numbers.
void CheckHolds(Tensor quantised, at::IntArrayRef sizes);

// How a number is brought to an integer; "round" and "rint" go to the nearest, to the even one of two.
at::Tensor Rounded(Tensor values, const std::string& mode);

// Rounds, clamps and writes.
void StoreQuantised(Out out, Tensor values, const std::string& mode = "rint");

// The numbers as float; int4 numbers are taken out of int32 elements.
at::Tensor Dequantised(Tensor quantised);

// As Dequantised, for matrices whose view may be transposed: int4 numbers are packed along the dimension
// whose elements are neighbours in memory.
at::Tensor DequantisedMatrix(Tensor quantised);

// What DequantisedMatrix has the shape of.
std::vector<int64_t> MatrixShape(Tensor matrix);

// Refuses stacks of matrices that cannot be multiplied.
std::vector<int64_t> ProductShape(const std::vector<int64_t>& left, const std::vector<int64_t>& right);

// What aclnnTransQuantParam packs into 64 bits: a float whose lowest 13 bits are cut off, and a 9-bit
// integer.
at::Tensor PackedScale(Tensor scale, const std::optional<at::Tensor>& offset, bool round);
at::Tensor ScaleOf(Tensor packedOrFloat);
at::Tensor OffsetOf(Tensor packed);
bool IsPacked(Tensor scale);

// Values of one number for each row, from the largest magnitude: the scale, and what the scale maps to
// integers.
struct DynamicallyQuantised {
  at::Tensor values, scale;
};

DynamicallyQuantised QuantiseRows(Tensor x, double greatest);

// Which group each of `rows` belongs to, from the ends of the groups or, with `counts`, from their sizes.
// Rows beyond the last group belong to none: -1.
at::Tensor GroupOfRows(Tensor groups, bool counts, int64_t rows);

}  // namespace simulator::operators
