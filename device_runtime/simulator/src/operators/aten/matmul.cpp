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

// Factors of any number of dimensions.
Plan Matmul(Tensor self, Tensor other, Out out, int8_t /*cubeMathType*/) {
  TORCH_CHECK_VALUE(
      self.dim() > 0 && other.dim() > 0 && self.size(-1) == other.size(other.dim() > 1 ? -2 : 0),
      "factors of shapes ", self.sizes(), " and ", other.sizes(), " have no product");
  TORCH_CHECK_TYPE(self.scalar_type() == other.scalar_type(), "factors of dtypes ", self.scalar_type(),
                   " and ", other.scalar_type());
  return [=]() mutable { Store(out, at::matmul(Widened(self), Widened(other))); };
}

Plan Addr(Tensor self, Tensor vec1, Tensor vec2, OptionalScalar beta, OptionalScalar alpha, Out out) {
  TORCH_CHECK_VALUE(vec1.dim() == 1 && vec2.dim() == 1, "vectors of shapes ", vec1.sizes(), " and ",
                    vec2.sizes());
  CheckShape(out, {vec1.size(0), vec2.size(0)});
  CheckAddend(self, out);
  return [=]() mutable { Store(out, at::addr(self, vec1, vec2, beta.value_or(1), alpha.value_or(1))); };
}

// The sum of the products of two stacks of matrices.
Plan Addbmm(Tensor self, Tensor batch1, Tensor batch2, Scalar beta, Scalar alpha, Out out,
            int8_t /*cubeMathType*/) {
  TORCH_CHECK_VALUE(batch1.dim() == 3 && batch2.dim() == 3 && batch1.size(0) == batch2.size(0) &&
                        batch1.size(2) == batch2.size(1),
                    "stacks of shapes ", batch1.sizes(), " and ", batch2.sizes(), " cannot be multiplied");
  CheckShape(out, {batch1.size(1), batch2.size(2)});
  CheckAddend(self, out);
  return
      [=]() mutable { Store(out, at::addbmm(Widened(self), Widened(batch1), Widened(batch2), beta, alpha)); };
}

}  // namespace
}  // namespace simulator::operators

ACLNN(Matmul, Planning(Matmul));
ACLNN(Mm, Planning(Mm));
ACLNN(BatchMatMul, Planning(BatchMatMul));
ACLNN(Mv, Planning(Mv));
ACLNN(Dot, Planning(Dot));
ACLNN(Addmm, Planning(Addmm));
ACLNN(InplaceAddmm, Planning(InplaceAddmm));
ACLNN(Addmv, Planning(Addmv));
ACLNN(Baddbmm, Planning(Baddbmm));
ACLNN(Addr, Planning(Addr));
ACLNN(InplaceAddr, Planning([](Out self, Tensor vec1, Tensor vec2, OptionalScalar beta,
                               OptionalScalar alpha) { return Addr(self, vec1, vec2, beta, alpha, self); }));
ACLNN(Addbmm, Planning(Addbmm));
