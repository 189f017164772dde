// Operators on lists of tensors, one tensor after the other.
#include "binding.h"
#include "store.h"

namespace simulator::operators {
namespace {

using Results = std::vector<at::Tensor>;

// The older operators pass a number as a tensor on the device, the V2 operators as a scalar.
template <Results (*kKernel)(at::TensorList)>
void Each(Tensors x, Tensors out) {
  StoreAll(out, kKernel(x));
}

template <Results (*kKernel)(at::TensorList, at::TensorList)>
void Pairs(Tensors x, Tensors y, Tensors out) {
  StoreAll(out, kKernel(x, y));
}

template <Results (*kKernel)(at::TensorList, const at::Scalar&)>
void WithScalar(Tensors x, Scalar number, Tensors out) {
  StoreAll(out, kKernel(x, number));
}

template <Results (*kKernel)(at::TensorList, const at::Scalar&)>
void WithDeviceScalar(Tensors x, Tensor number, Tensors out) {
  StoreAll(out, kKernel(x, number.item()));
}

template <Results (*kKernel)(at::TensorList, at::ArrayRef<at::Scalar>)>
void WithScalars(Tensors x, Scalars numbers, Tensors out) {
  StoreAll(out, kKernel(x, numbers));
}

using TernaryKernel = Results (*)(at::TensorList, at::TensorList, at::TensorList, const at::Scalar&);
using TernaryListKernel = Results (*)(at::TensorList, at::TensorList, at::TensorList,
                                      at::ArrayRef<at::Scalar>);

template <TernaryKernel kKernel>
void Triples(Tensors x, Tensors y, Tensors z, Scalar number, Tensors out) {
  StoreAll(out, kKernel(x, y, z, number));
}

template <TernaryKernel kKernel>
void TriplesWithDeviceScalar(Tensors x, Tensors y, Tensors z, Tensor number, Tensors out) {
  StoreAll(out, kKernel(x, y, z, number.item()));
}

// One number a triple, all in one tensor.
template <TernaryListKernel kKernel>
void TriplesWithDeviceScalars(Tensors x, Tensors y, Tensors z, Tensor numbers, Tensors out) {
  std::vector<at::Scalar> values;
  values.reserve(numbers.numel());
  for (int64_t i = 0; i < numbers.numel(); ++i) values.push_back(numbers.flatten()[i].item());
  StoreAll(out, kKernel(x, y, z, values));
}

void RoundOff(Tensors x, int64_t mode, Tensors out) {
  switch (mode) {
    case 1:
      return StoreAll(out, at::_foreach_round(x));
    case 2:
      return StoreAll(out, at::_foreach_floor(x));
    case 3:
      return StoreAll(out, at::_foreach_ceil(x));
    case 5:
      return StoreAll(out, at::_foreach_trunc(x));
    case 7:
      return StoreAll(out, at::_foreach_frac(x));
    default:
      TORCH_CHECK_VALUE(false, "rounding mode ", mode, " is not implemented");
  }
}

}  // namespace
}  // namespace simulator::operators

ACLNN(ForeachAbs, Each<at::_foreach_abs>);
ACLNN(ForeachAcos, Each<at::_foreach_acos>);
ACLNN(ForeachAsin, Each<at::_foreach_asin>);
ACLNN(ForeachAtan, Each<at::_foreach_atan>);
ACLNN(ForeachCos, Each<at::_foreach_cos>);
ACLNN(ForeachCosh, Each<at::_foreach_cosh>);
ACLNN(ForeachErf, Each<at::_foreach_erf>);
ACLNN(ForeachErfc, Each<at::_foreach_erfc>);
ACLNN(ForeachExp, Each<at::_foreach_exp>);
ACLNN(ForeachExpm1, Each<at::_foreach_expm1>);
ACLNN(ForeachLog, Each<at::_foreach_log>);
ACLNN(ForeachLog10, Each<at::_foreach_log10>);
ACLNN(ForeachLog1p, Each<at::_foreach_log1p>);
ACLNN(ForeachLog2, Each<at::_foreach_log2>);
ACLNN(ForeachNeg, Each<at::_foreach_neg>);
ACLNN(ForeachReciprocal, Each<at::_foreach_reciprocal>);
ACLNN(ForeachSigmoid, Each<at::_foreach_sigmoid>);
ACLNN(ForeachSign, Each<at::_foreach_sign>);
ACLNN(ForeachSin, Each<at::_foreach_sin>);
ACLNN(ForeachSinh, Each<at::_foreach_sinh>);
ACLNN(ForeachSqrt, Each<at::_foreach_sqrt>);
ACLNN(ForeachTan, Each<at::_foreach_tan>);
ACLNN(ForeachTanh, Each<at::_foreach_tanh>);

ACLNN(ForeachMulList, Pairs<at::_foreach_mul>);
ACLNN(ForeachDivList, Pairs<at::_foreach_div>);
ACLNN(ForeachMaximumList, Pairs<at::_foreach_maximum>);
ACLNN(ForeachMinimumList, Pairs<at::_foreach_minimum>);
ACLNN(ForeachPowList, Pairs<at::_foreach_pow>);
ACLNN(ForeachAddScalar, WithDeviceScalar<at::_foreach_add>);
ACLNN(ForeachAddScalarV2, WithScalar<at::_foreach_add>);
ACLNN(ForeachAddScalarList, WithScalars<at::_foreach_add>);
ACLNN(ForeachSubScalar, WithDeviceScalar<at::_foreach_sub>);
ACLNN(ForeachSubScalarV2, WithScalar<at::_foreach_sub>);
ACLNN(ForeachSubScalarList, WithScalars<at::_foreach_sub>);
ACLNN(ForeachMulScalar, WithDeviceScalar<at::_foreach_mul>);
ACLNN(ForeachMulScalarV2, WithScalar<at::_foreach_mul>);
ACLNN(ForeachMulScalarList, WithScalars<at::_foreach_mul>);
ACLNN(ForeachDivScalar, WithDeviceScalar<at::_foreach_div>);
ACLNN(ForeachDivScalarV2, WithScalar<at::_foreach_div>);
ACLNN(ForeachDivScalarList, WithScalars<at::_foreach_div>);
ACLNN(ForeachMaximumScalar, WithDeviceScalar<at::_foreach_maximum>);
ACLNN(ForeachMaximumScalarV2, WithScalar<at::_foreach_maximum>);
ACLNN(ForeachMaximumScalarList, WithScalars<at::_foreach_maximum>);
ACLNN(ForeachMinimumScalar, WithDeviceScalar<at::_foreach_minimum>);
ACLNN(ForeachMinimumScalarV2, WithScalar<at::_foreach_minimum>);
ACLNN(ForeachMinimumScalarList, WithScalars<at::_foreach_minimum>);
ACLNN(ForeachPowScalar, WithDeviceScalar<at::_foreach_pow>);
ACLNN(ForeachPowScalarV2, WithScalar<at::_foreach_pow>);
ACLNN(ForeachPowScalarList, WithScalars<at::_foreach_pow>);
ACLNN(ForeachAddcmulScalar, TriplesWithDeviceScalar<at::_foreach_addcmul>);
ACLNN(ForeachAddcmulScalarV2, Triples<at::_foreach_addcmul>);
ACLNN(ForeachAddcmulScalarList, TriplesWithDeviceScalars<at::_foreach_addcmul>);
ACLNN(ForeachAddcdivScalar, TriplesWithDeviceScalar<at::_foreach_addcdiv>);
ACLNN(ForeachAddcdivScalarV2, Triples<at::_foreach_addcdiv>);
ACLNN(ForeachAddcdivScalarList, TriplesWithDeviceScalars<at::_foreach_addcdiv>);

ACLNN(ForeachAddListV2,
      [](Tensors x, Tensors y, Scalar alpha, Tensors out) { StoreAll(out, at::_foreach_add(x, y, alpha)); });
ACLNN(ForeachAddList, [](Tensors x, Tensors y, Tensor alpha, Tensors out) {
  StoreAll(out, at::_foreach_add(x, y, alpha.item()));
});
ACLNN(ForeachSubListV2,
      [](Tensors x, Tensors y, Scalar alpha, Tensors out) { StoreAll(out, at::_foreach_sub(x, y, alpha)); });
ACLNN(ForeachSubList, [](Tensors x, Tensors y, Tensor alpha, Tensors out) {
  StoreAll(out, at::_foreach_sub(x, y, alpha.item()));
});
ACLNN(ForeachPowScalarAndTensor,
      [](Scalar base, Tensors exponents, Tensors out) { StoreAll(out, at::_foreach_pow(base, exponents)); });
ACLNN(ForeachLerpScalar, [](Tensors x, Tensors y, Scalar weight, Tensors out) {
  StoreAll(out, at::_foreach_lerp(x, y, weight));
});
ACLNN(ForeachLerpList, [](Tensors x, Tensors y, Tensors weights, Tensors out) {
  StoreAll(out, at::_foreach_lerp(x, y, weights));
});
ACLNN(ForeachNorm, [](Tensors x, Scalar order, Tensors out) { StoreAll(out, at::_foreach_norm(x, order)); });
ACLNN(ForeachCopy, [](Tensors x, Tensors out) { StoreAll(out, x); });
ACLNN(ForeachZeroInplace, [](Tensors x) { at::_foreach_zero_(x); });
ACLNN(ForeachRoundOffNumber,
      [](Tensors x, Tensor mode, Tensors out) { RoundOff(x, mode.item().toLong(), out); });
ACLNN(ForeachRoundOffNumberV2, [](Tensors x, Scalar mode, Tensors out) { RoundOff(x, mode.toLong(), out); });
