#pragma once

#include <ATen/ATen.h>

#include "tensor/descriptors.h"

namespace simulator::operators {

// The dtype of ATen that has the layout of an ACL dtype. Throws c10::Error for one ATen does not know.
at::ScalarType ToScalarType(aclDataType dtype);

// A CPU tensor over the device memory that the descriptor points to; no copy, not resizable. Throws
// c10::Error for a format that is not known or a view that leaves its device allocation.
at::Tensor View(const aclTensor& descriptor);

at::Scalar ToScalar(const aclScalar& scalar);

// Rewrites the shape of an output whose size depends on the data, as a contiguous tensor from the same
// address.
void Reshape(aclTensor& descriptor, at::IntArrayRef sizes);

}  // namespace simulator::operators
