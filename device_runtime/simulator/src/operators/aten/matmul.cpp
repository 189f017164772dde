// Products of matrices and vectors. `cubeMathType` permits less precision than the dtype has; none is given
// up here.
#include "binding.h"
#include "checks.h"
#include "store.h"

ACLNN(Matmul, [](Tensor self, Tensor other, Out out, int8_t) { Store(out, at::matmul(self, other)); });
ACLNN(Mm, Checked([](Tensor self, Tensor other, Out out, int8_t) { CheckProduct(self, other, out); },
                  [](Tensor self, Tensor other, Out out, int8_t) { at::mm_out(out, self, other); }));
ACLNN(Mv, [](Tensor self, Tensor vector, Out out, int8_t) { at::mv_out(out, self, vector); });
ACLNN(Dot, [](Tensor self, Tensor other, Out out) { at::dot_out(out, self, other); });
ACLNN(BatchMatMul,
      Checked([](Tensor self, Tensor other, Out out, int8_t) { CheckProduct(self, other, out); },
              [](Tensor self, Tensor other, Out out, int8_t) { at::bmm_out(out, self, other); }));
ACLNN(Addmm, Checked([](Tensor, Tensor mat1, Tensor mat2, Scalar, Scalar, Out out,
                        int8_t) { CheckProduct(mat1, mat2, out); },
                     [](Tensor self, Tensor mat1, Tensor mat2, Scalar beta, Scalar alpha, Out out, int8_t) {
                       at::addmm_out(out, self, mat1, mat2, beta, alpha);
                     }));
ACLNN(InplaceAddmm, [](Out self, Tensor mat1, Tensor mat2, Scalar beta, Scalar alpha, int8_t) {
  at::addmm_out(self, self, mat1, mat2, beta, alpha);
});
ACLNN(Addmv, [](Tensor self, Tensor matrix, Tensor vector, Scalar alpha, Scalar beta, Out out, int8_t) {
  at::addmv_out(out, self, matrix, vector, beta, alpha);
});
ACLNN(Addr, [](Tensor self, Tensor vec1, Tensor vec2, OptionalScalar beta, OptionalScalar alpha, Out out) {
  at::addr_out(out, self, vec1, vec2, beta.value_or(1), alpha.value_or(1));
});
ACLNN(InplaceAddr, [](Out self, Tensor vec1, Tensor vec2, OptionalScalar beta, OptionalScalar alpha) {
  at::addr_out(self, self, vec1, vec2, beta.value_or(1), alpha.value_or(1));
});
ACLNN(Addbmm, [](Tensor self, Tensor batch1, Tensor batch2, Scalar beta, Scalar alpha, Out out, int8_t) {
  at::addbmm_out(out, self, batch1, batch2, beta, alpha);
});
ACLNN(Baddbmm, [](Tensor self, Tensor batch1, Tensor batch2, Scalar beta, Scalar alpha, Out out, int8_t) {
  at::baddbmm_out(out, self, batch1, batch2, beta, alpha);
});
ACLNN(Inverse, [](Tensor self, Out out) { at::inverse_out(out, self); });
ACLNN(LinalgCross,
      [](Tensor self, Tensor other, int64_t dim, Out out) { at::linalg_cross_out(out, self, other, dim); });
ACLNN(LinalgCholesky, [](Tensor self, bool upper, Out out) { at::linalg_cholesky_out(out, self, upper); });
ACLNN(Slogdet, [](Tensor self, Out sign, Out logarithm) {
  const auto [signs, logarithms] = at::slogdet(self);
  Store(sign, signs);
  Store(logarithm, logarithms);
});
ACLNN(TriangularSolve, [](Tensor self, Tensor a, bool upper, bool transpose, bool unitriangular, Out solution,
                          Out coefficients) {
  const auto [x, m] = at::triangular_solve(self, a, upper, transpose, unitriangular);
  Store(solution, x);
  Store(coefficients, m);
});
// The modes: 0 reduced, 1 complete, 2 only R.
ACLNN(LinalgQr, [](Tensor self, int64_t mode, Out q, Out r) {
  constexpr std::array<std::string_view, 3> kModes{"reduced", "complete", "r"};
  TORCH_CHECK_VALUE(mode >= 0 && mode <= 2, "the mode ", mode, " is not 0, 1 or 2");
  const auto [orthogonal, triangular] = at::linalg_qr(self, kModes[mode]);
  Store(q, orthogonal);
  Store(r, triangular);
});
ACLNN(Svd, [](Tensor self, bool fullMatrices, bool computeUv, Out sigma, Out u, Out v) {
  if (!computeUv) {
    Store(sigma, at::linalg_svdvals(self));
    return;
  }
  const auto [left, singular, right] = at::linalg_svd(self, fullMatrices);
  Store(sigma, singular);
  Store(u, left);
  Store(v, right.mH());
});
