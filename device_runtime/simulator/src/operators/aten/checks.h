#pragma once

#include <ATen/EmptyTensor.h>
#include <ATen/ExpandUtils.h>
#include <ATen/WrapDimUtils.h>

#include "arguments.h"

// What phase 1 refuses before anything is queued.
namespace simulator::operators {

inline void CheckShape(Tensor out, at::IntArrayRef expected) {
  TORCH_CHECK_VALUE(out.sizes() == expected, "the result has shape ", expected, ", the output tensor ",
                    out.sizes());
}

inline void CheckLike(Tensor out, Tensor expected) { CheckShape(out, expected.sizes()); }

// A tensor of the same shape and dtype without memory, for the functions of at::meta, which compute the shape
// that ATen's kernels give. They are called directly: the dispatcher would call those that PyTorch has in
// Python.
inline at::Tensor Bare(Tensor tensor) {
  return at::Tensor(at::detail::empty_meta(tensor.sizes(), tensor.scalar_type()));
}

// What remains of a shape when dimensions are folded, all if none are named; with `keepDim` they keep size
// one.
inline std::vector<int64_t> ReducedShape(Tensor self, at::IntArrayRef dims, bool keepDim) {
  std::vector<bool> folded(self.dim(), dims.empty());
  for (const auto dim : dims) {
    const auto wrapped = at::maybe_wrap_dim(dim, self.dim());
    if (self.dim() > 0) folded[wrapped] = true;
  }
  std::vector<int64_t> shape;
  for (int64_t dim = 0; dim < self.dim(); ++dim) {
    if (!folded[dim]) shape.push_back(self.size(dim));
    if (folded[dim] && keepDim) shape.push_back(1);
  }
  return shape;
}

inline void CheckSameShape(Tensor self, Tensor out) { CheckShape(out, self.sizes()); }

inline void CheckBroadcast(Tensor self, Tensor other, Tensor out) {
  CheckShape(out, at::infer_size(self.sizes(), other.sizes()));
}

// The product of two matrices or of two stacks of matrices.
inline void CheckProduct(Tensor self, Tensor other, Tensor out) {
  TORCH_CHECK_VALUE(self.scalar_type() == other.scalar_type(), "the matrices have dtypes ",
                    self.scalar_type(), " and ", other.scalar_type());
  TORCH_CHECK_TYPE(self.scalar_type() != at::kBool, "boolean matrices cannot be multiplied");
  TORCH_CHECK_VALUE(self.dim() >= 2 && self.dim() == other.dim() && self.size(-1) == other.size(-2) &&
                        self.sizes().slice(0, self.dim() - 2) == other.sizes().slice(0, other.dim() - 2),
                    "matrices of shapes ", self.sizes(), " and ", other.sizes(), " cannot be multiplied");
  auto shape = self.sizes().vec();
  shape.back() = other.size(-1);
  CheckShape(out, shape);
}

// A tensor that is joined along `dim`; an empty vector adds nothing to any shape.
inline void CheckFits(Tensor part, int64_t dim, Tensor whole) {
  if (part.dim() == 1 && part.numel() == 0) return;
  TORCH_CHECK_VALUE(part.dim() == whole.dim(), "a tensor of shape ", part.sizes(),
                    " cannot be part of one of shape ", whole.sizes());
  auto expected = whole.sizes().vec();
  const auto along = at::maybe_wrap_dim(dim, whole.dim());
  expected[along] = part.size(along);
  TORCH_CHECK_VALUE(part.sizes() == at::IntArrayRef(expected), "a tensor of shape ", part.sizes(),
                    " cannot be joined along dimension ", dim, " to one of shape ", whole.sizes());
}

}  // namespace simulator::operators
