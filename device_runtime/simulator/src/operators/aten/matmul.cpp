// Products of matrices and vectors. `cubeMathType` permits less precision than the dtype has; none is given
// up here.
#include "binding.h"
#include "checks.h"
#include "store.h"

namespace simulator::operators {
namespace {

// The product of a matrix and a vector, or of two vectors.
void CheckVectorProduct(Tensor self, Tensor vector, Tensor out) {
  TORCH_CHECK_TYPE(self.scalar_type() == vector.scalar_type() && self.scalar_type() != at::kBool,
                   "factors of dtypes ", self.scalar_type(), " and ", vector.scalar_type());
  TORCH_CHECK_VALUE(vector.dim() == 1 && self.dim() > 0 && self.size(-1) == vector.size(0),
                    "factors of shapes ", self.sizes(), " and ", vector.sizes(), " have no product");
  CheckShape(out, self.sizes().slice(0, self.dim() - 1));
}

// What is added to a product is broadcast to it.
void CheckAddend(Tensor self, Tensor product) {
  CheckShape(product, at::infer_size(self.sizes(), product.sizes()));
}

Plan Mm(Tensor self, Tensor other, Out out, int8_t /*cubeMathType*/) {
  CheckProduct(self, other, out);
  return [=]() mutable { Store(out, at::mm(Widened(self), Widened(other))); };
}

Plan BatchMatMul(Tensor self, Tensor other, Out out, int8_t /*cubeMathType*/) {
  CheckProduct(self, other, out);
  return [=]() mutable { Store(out, at::bmm(Widened(self), Widened(other))); };
}

Plan Mv(Tensor self, Tensor vector, Out out, int8_t /*cubeMathType*/) {
  CheckVectorProduct(self, vector, out);
  return [=]() mutable { Store(out, at::mv(Widened(self), Widened(vector))); };
}

Plan Dot(Tensor self, Tensor other, Out out) {
  CheckVectorProduct(self, other, out);
  return [=]() mutable { Store(out, at::dot(Widened(self), Widened(other))); };
}

Plan Addmm(Tensor self, Tensor mat1, Tensor mat2, Scalar beta, Scalar alpha, Out out,
           int8_t /*cubeMathType*/) {
  CheckProduct(mat1, mat2, out);
  CheckAddend(self, out);
  return [=]() mutable { Store(out, at::addmm(Widened(self), Widened(mat1), Widened(mat2), beta, alpha)); };
}

Plan InplaceAddmm(Out self, Tensor mat1, Tensor mat2, Scalar beta, Scalar alpha, int8_t cubeMathType) {
  return Addmm(self, mat1, mat2, beta, alpha, self, cubeMathType);
}

Plan Addmv(Tensor self, Tensor matrix, Tensor vector, Scalar alpha, Scalar beta, Out out,
           int8_t /*cubeMathType*/) {
  CheckVectorProduct(matrix, vector, out);
  CheckAddend(self, out);
  return
      [=]() mutable { Store(out, at::addmv(Widened(self), Widened(matrix), Widened(vector), beta, alpha)); };
}

Plan Baddbmm(Tensor self, Tensor batch1, Tensor batch2, Scalar beta, Scalar alpha, Out out,
             int8_t /*cubeMathType*/) {
  CheckProduct(batch1, batch2, out);
  CheckAddend(self, out);
  return [=]() mutable {
    Store(out, at::baddbmm(Widened(self), Widened(batch1), Widened(batch2), beta, alpha));
  };
}

}  // namespace
}  // namespace simulator::operators

ACLNN(Matmul, [](Tensor self, Tensor other, Out out, int8_t) {
  Store(out, at::matmul(Widened(self), Widened(other)));
});
ACLNN(Mm, Planning(Mm));
ACLNN(BatchMatMul, Planning(BatchMatMul));
ACLNN(Mv, Planning(Mv));
ACLNN(Dot, Planning(Dot));
ACLNN(Addmm, Planning(Addmm));
ACLNN(InplaceAddmm, Planning(InplaceAddmm));
ACLNN(Addmv, Planning(Addmv));
ACLNN(Baddbmm, Planning(Baddbmm));
ACLNN(Addr, [](Tensor self, Tensor vec1, Tensor vec2, OptionalScalar beta, OptionalScalar alpha, Out out) {
  at::addr_out(out, self, vec1, vec2, beta.value_or(1), alpha.value_or(1));
});
ACLNN(InplaceAddr, [](Out self, Tensor vec1, Tensor vec2, OptionalScalar beta, OptionalScalar alpha) {
  at::addr_out(self, self, vec1, vec2, beta.value_or(1), alpha.value_or(1));
});
ACLNN(Addbmm, [](Tensor self, Tensor batch1, Tensor batch2, Scalar beta, Scalar alpha, Out out, int8_t) {
  Store(out, at::addbmm(Widened(self), Widened(batch1), Widened(batch2), beta, alpha));
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
