#pragma once

#include <algorithm>

#include "store.h"

// Root-mean-square normalisation over the last dimensions, those that gamma has.
namespace simulator::operators {

inline void CheckNormalizes(Tensor gamma, Tensor x) {
  const auto dims = gamma.dim();
  TORCH_CHECK_VALUE(dims > 0 && dims <= x.dim() && x.sizes().slice(x.dim() - dims) == gamma.sizes(),
                    "a gamma of shape ", gamma.sizes(), " cannot normalise an input of shape ", x.sizes());
}

// The last `dims` dimensions of x.
inline std::vector<int64_t> LastDims(Tensor x, int64_t dims) {
  std::vector<int64_t> last(dims);
  for (int64_t i = 0; i < dims; ++i) last[i] = x.dim() - dims + i;
  return last;
}

inline at::Tensor InverseRms(Tensor x, int64_t dims, double epsilon) {
  return at::rsqrt(at::mean(x * x, LastDims(x, dims), true) + epsilon);
}

// The shape of one number for all that is normalised together.
inline std::vector<int64_t> RowShape(Tensor x, int64_t dims) {
  auto shape = x.sizes().vec();
  std::fill(shape.end() - dims, shape.end(), 1);
  return shape;
}

struct RmsNormalized {
  at::Tensor result, inverse;
};

inline RmsNormalized RmsNormalize(Tensor x, Tensor gamma, double epsilon) {
  const auto wide = Widened(x);
  const auto inverse = InverseRms(wide, gamma.dim(), epsilon);
  return {wide * inverse * Widened(gamma), inverse};
}

// Sums over all dimensions but the last `dims`.
inline at::Tensor SumToLast(Tensor x, int64_t dims) {
  return dims == x.dim() ? x : x.flatten(0, x.dim() - dims - 1).sum(0);
}

struct RmsGradients {
  at::Tensor input, gamma;
};

inline RmsGradients RmsNormGradients(Tensor gradOutput, Tensor x, Tensor inverse, Tensor gamma) {
  const auto dims = gamma.dim();
  const auto grad = Widened(gradOutput);
  const auto rstd = inverse.reshape(RowShape(x, dims));
  const auto normalized = Widened(x) * rstd;
  const auto weighted = grad * Widened(gamma);
  const auto projection = at::mean(weighted * normalized, LastDims(x, dims), true);
  return {(weighted - normalized * projection) * rstd, SumToLast(grad * normalized, dims)};
}

}  // namespace simulator::operators
