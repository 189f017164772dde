// Products with weights in a private format, whose data is kept as that of a plain tensor (see tensors.cpp),
// and products that are fused with what follows.
#include "binding.h"
#include "checks.h"
#include "store.h"

namespace simulator::operators {
namespace {

Plan WeightProduct(Tensor self, Tensor weight, Out out, int8_t /*cubeMathType*/) {
  TORCH_CHECK_VALUE(self.dim() >= 1 && weight.dim() >= 2 && self.size(-1) == weight.size(-2),
                    "matrices of shapes ", self.sizes(), " and ", weight.sizes(), " cannot be multiplied");
  return [=]() mutable { Store(out, at::matmul(Widened(self), Widened(weight))); };
}

// With permutations of the operands and of the result.
Plan TransposedProduct(Tensor left, Tensor right, OptionalTensor bias, OptionalTensor scale,
                       Sizes permuteLeft, Sizes permuteRight, Sizes permuteOut, int32_t batchSplit, Out out) {
  TORCH_CHECK_VALUE(!bias && !scale, "a bias or a scale is not implemented");
  TORCH_CHECK_VALUE(batchSplit == 1, "a batch split of ", batchSplit, " is not implemented");
  TORCH_CHECK_VALUE(left.dim() == 3 && right.dim() == 3, "operands of shapes ", left.sizes(), " and ",
                    right.sizes(), " are no batches of matrices");
  return [=]() mutable {
    const auto permuted = [](Tensor tensor, Sizes order) {
      return order.empty() ? tensor : tensor.permute(order);
    };
    const auto product =
        at::bmm(permuted(Widened(left), permuteLeft), permuted(Widened(right), permuteRight));
    Store(out, permuted(product, permuteOut).reshape(out.sizes()));
  };
}

at::Tensor Following(Tensor product, OptionalTensor other, const std::string& operation) {
  if (operation == "add") return product + Widened(*other);
  if (operation == "mul") return product * Widened(*other);
  if (operation == "relu") return at::relu(product);
  if (operation == "gelu_erf") return at::gelu(product);
  if (operation == "gelu_tanh") return at::gelu(product, "tanh");
  return product;
}

Plan FusedProduct(Tensor left, Tensor right, OptionalTensor bias, OptionalTensor other, Text operation,
                  int8_t /*cubeMathType*/, Out out) {
  const bool binary = operation == "add" || operation == "mul";
  const bool unary =
      operation.empty() || operation == "relu" || operation == "gelu_erf" || operation == "gelu_tanh";
  TORCH_CHECK_VALUE(binary || unary, "the fused operation ", operation, " is not implemented");
  TORCH_CHECK_VALUE(!binary || other, "the fused operation ", operation, " asks for another operand");
  return [=]() mutable {
    auto product = at::matmul(Widened(left), Widened(right));
    if (bias) product = product + Widened(*bias);
    Store(out, Following(product, other, operation));
  };
}

}  // namespace
}  // namespace simulator::operators

ACLNN(MatmulWeightNz, Planning(WeightProduct));
ACLNN(BatchMatMulWeightNz, Planning(WeightProduct));
ACLNN(AddmmWeightNz, Planning([](Tensor self, Tensor mat1, Tensor mat2, Scalar beta, Scalar alpha, Out out,
                                 int8_t /*cubeMathType*/) {
        CheckProduct(mat1, mat2, out);
        return Plan([=]() mutable {
          Store(out, at::addmm(Widened(self), Widened(mat1), Widened(mat2), beta, alpha));
        });
      }));
ACLNN(TransposeBatchMatMul,
      Planning([](Tensor x1, Tensor x2, OptionalTensor bias, OptionalTensor scale, Sizes permX1, Sizes permX2,
                  Sizes permY, int8_t /*cubeMathType*/, int32_t batchSplit, Out out) {
        return TransposedProduct(x1, x2, bias, scale, permX1, permX2, permY, batchSplit, out);
      }));
ACLNN(TransposeBatchMatMulWeightNz,
      Planning([](Tensor x1, Tensor x2, OptionalTensor bias, OptionalTensor scale, Sizes permX1, Sizes permX2,
                  Sizes permY, int8_t /*cubeMathType*/, int32_t batchSplit, Out out) {
        return TransposedProduct(x1, x2, bias, scale, permX1, permX2, permY, batchSplit, out);
      }));
ACLNN(FusedMatmul, Planning(FusedProduct));
