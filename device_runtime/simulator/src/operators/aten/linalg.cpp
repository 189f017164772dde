// Inverses, determinants and decompositions of matrices.
#include <ATen/ATen.h>  // the headers below do not include all that they need
#include <ATen/ops/_linalg_slogdet_meta_dispatch.h>
#include <ATen/ops/_linalg_svd_meta_dispatch.h>
#include <ATen/ops/linalg_cholesky_ex_meta_dispatch.h>
#include <ATen/ops/linalg_cross_meta_dispatch.h>
#include <ATen/ops/linalg_inv_ex_meta_dispatch.h>
#include <ATen/ops/linalg_qr_meta_dispatch.h>

#include "binding.h"
#include "checks.h"
#include "store.h"

namespace simulator::operators {
namespace {

Plan Inverse(Tensor self, Out out) {
  CheckLike(out, std::get<0>(at::meta::linalg_inv_ex(Bare(self))));
  return [=]() mutable { Store(out, at::inverse(self)); };
}

Plan CrossProduct(Tensor self, Tensor other, int64_t dim, Out out) {
  CheckLike(out, at::meta::linalg_cross(Bare(self), Bare(other), dim));
  return [=]() mutable { Store(out, at::linalg_cross(self, other, dim)); };
}

Plan Cholesky(Tensor self, bool upper, Out out) {
  CheckLike(out, std::get<0>(at::meta::linalg_cholesky_ex(Bare(self), upper)));
  return [=]() mutable { Store(out, at::linalg_cholesky(self, upper)); };
}

Plan Slogdet(Tensor self, Out sign, Out logarithm) {
  const auto shapes = at::meta::_linalg_slogdet(Bare(self));
  CheckLike(sign, std::get<0>(shapes));
  CheckLike(logarithm, std::get<1>(shapes));
  return [=]() mutable {
    const auto [signs, logarithms] = at::slogdet(self);
    Store(sign, signs);
    Store(logarithm, logarithms);
  };
}

// The right sides and the matrices are broadcast.
void CheckSystems(Tensor self, Tensor a, Out solution, Out coefficients) {
  TORCH_CHECK_VALUE(
      self.dim() >= 2 && a.dim() >= 2 && a.size(-1) == a.size(-2) && self.size(-2) == a.size(-1),
      "a system of shape ", a.sizes(), " for right sides of shape ", self.sizes());
  auto shape = at::infer_size(self.sizes().slice(0, self.dim() - 2), a.sizes().slice(0, a.dim() - 2));
  shape.insert(shape.end(), {self.size(-2), self.size(-1)});
  CheckShape(solution, shape);
  shape.back() = a.size(-1);
  CheckShape(coefficients, shape);
}

Plan TriangularSolve(Tensor self, Tensor a, bool upper, bool transpose, bool unitriangular, Out solution,
                     Out coefficients) {
  CheckSystems(self, a, solution, coefficients);
  return [=]() mutable {
    const auto [x, m] = at::triangular_solve(self, a, upper, transpose, unitriangular);
    Store(solution, x);
    Store(coefficients, m);
  };
}

// The modes: 0 reduced, 1 complete, 2 only R.
Plan Qr(Tensor self, int64_t mode, Out q, Out r) {
  constexpr std::array<std::string_view, 3> kModes{"reduced", "complete", "r"};
  TORCH_CHECK_VALUE(mode >= 0 && mode <= 2, "the mode ", mode, " is not 0, 1 or 2");
  const auto name = kModes[mode];
  const auto shapes = at::meta::linalg_qr(Bare(self), name);
  if (mode != 2) CheckLike(q, std::get<0>(shapes));
  CheckLike(r, std::get<1>(shapes));
  return [=]() mutable {
    const auto [orthogonal, triangular] = at::linalg_qr(self, name);
    Store(q, orthogonal);
    Store(r, triangular);
  };
}

Plan Svd(Tensor self, bool fullMatrices, bool computeUv, Out sigma, Out u, Out v) {
  const auto [left, singular, right] = at::meta::_linalg_svd(Bare(self), fullMatrices, computeUv);
  CheckLike(sigma, singular);
  if (!computeUv) return [=]() mutable { Store(sigma, at::linalg_svdvals(self)); };
  CheckLike(u, left);
  auto transposed = right.sizes().vec();
  std::swap(transposed.back(), transposed[transposed.size() - 2]);
  CheckShape(v, transposed);
  return [=]() mutable {
    const auto [leftVectors, values, rightVectors] = at::linalg_svd(self, fullMatrices);
    Store(sigma, values);
    Store(u, leftVectors);
    Store(v, rightVectors.mH());
  };
}

}  // namespace
}  // namespace simulator::operators

ACLNN(Inverse, Planning(Inverse));
ACLNN(LinalgCross, Planning(CrossProduct));
ACLNN(LinalgCholesky, Planning(Cholesky));
ACLNN(Slogdet, Planning(Slogdet));
ACLNN(TriangularSolve, Planning(TriangularSolve));
ACLNN(LinalgQr, Planning(Qr));
ACLNN(Svd, Planning(Svd));
