// Operators that combine the elements of two or three tensors, or of a tensor and a scalar.
#include <ATen/ScalarOps.h>

#include "binding.h"

namespace simulator::operators {
namespace {

using BinaryKernel = at::Tensor& (*)(at::Tensor&, const at::Tensor&, const at::Tensor&);
using ScalarKernel = at::Tensor& (*)(at::Tensor&, const at::Tensor&, const at::Scalar&);

template <BinaryKernel kKernel>
constexpr auto Binary = Broadcasting([](Tensor self, Tensor other, Out out) { kKernel(out, self, other); });

template <BinaryKernel kKernel>
constexpr auto InplaceBinary = Broadcasting([](Out self, Tensor other) { kKernel(self, self, other); });

template <ScalarKernel kKernel>
constexpr auto WithScalar =
    Broadcasting([](Tensor self, Scalar other, Out out) { kKernel(out, self, other); });

template <ScalarKernel kKernel>
constexpr auto InplaceWithScalar = Broadcasting([](Out self, Scalar other) { kKernel(self, self, other); });

using ScaledKernel = at::Tensor& (*)(at::Tensor&, const at::Tensor&, const at::Tensor&, const at::Scalar&);

template <ScaledKernel kKernel>
constexpr auto Scaled =
    Broadcasting([](Tensor self, Tensor other, Scalar alpha, Out out) { kKernel(out, self, other, alpha); });

template <ScaledKernel kKernel>
constexpr auto InplaceScaled =
    Broadcasting([](Out self, Tensor other, Scalar alpha) { kKernel(self, self, other, alpha); });

// A tensor that takes part in type promotion as the Python number it stands for.
at::Tensor Number(Scalar value) { return at::native::wrapped_scalar_tensor(value); }

// 0 keeps the quotient, 1 rounds it towards zero, 2 towards minus infinity.
std::optional<std::string_view> Rounding(int mode) {
  TORCH_CHECK_VALUE(mode >= 0 && mode <= 2, "rounding mode ", mode, " is not 0, 1 or 2");
  if (mode == 0) return std::nullopt;
  return mode == 1 ? "trunc" : "floor";
}

}  // namespace
}  // namespace simulator::operators

ACLNN(EqTensor, Binary<at::eq_out>);
ACLNN(InplaceEqTensor, InplaceBinary<at::eq_out>);
ACLNN(EqScalar, WithScalar<at::eq_out>);
ACLNN(InplaceEqScalar, InplaceWithScalar<at::eq_out>);
ACLNN(NeTensor, Binary<at::ne_out>);
ACLNN(InplaceNeTensor, InplaceBinary<at::ne_out>);
ACLNN(NeScalar, WithScalar<at::ne_out>);
ACLNN(InplaceNeScalar, InplaceWithScalar<at::ne_out>);
ACLNN(LtTensor, Binary<at::lt_out>);
ACLNN(InplaceLtTensor, InplaceBinary<at::lt_out>);
ACLNN(LtScalar, WithScalar<at::lt_out>);
ACLNN(InplaceLtScalar, InplaceWithScalar<at::lt_out>);
ACLNN(LeTensor, Binary<at::le_out>);
ACLNN(InplaceLeTensor, InplaceBinary<at::le_out>);
ACLNN(LessScalar, WithScalar<at::lt_out>);
ACLNN(LeScalar, WithScalar<at::le_out>);
ACLNN(InplaceLeScalar, InplaceWithScalar<at::le_out>);
ACLNN(GtTensor, Binary<at::gt_out>);
ACLNN(InplaceGtTensor, InplaceBinary<at::gt_out>);
ACLNN(GtScalar, WithScalar<at::gt_out>);
ACLNN(InplaceGtScalar, InplaceWithScalar<at::gt_out>);
ACLNN(GeTensor, Binary<at::ge_out>);
ACLNN(InplaceGeTensor, InplaceBinary<at::ge_out>);
ACLNN(GeScalar, WithScalar<at::ge_out>);
ACLNN(InplaceGeScalar, InplaceWithScalar<at::ge_out>);
ACLNN(LogicalAnd, Binary<at::logical_and_out>);
ACLNN(InplaceLogicalAnd, InplaceBinary<at::logical_and_out>);
ACLNN(BitwiseAndTensor, Binary<at::bitwise_and_out>);
ACLNN(InplaceBitwiseAndTensor, InplaceBinary<at::bitwise_and_out>);
ACLNN(BitwiseAndScalar, WithScalar<at::bitwise_and_out>);
ACLNN(InplaceBitwiseAndScalar, InplaceWithScalar<at::bitwise_and_out>);
ACLNN(LogicalOr, Binary<at::logical_or_out>);
ACLNN(InplaceLogicalOr, InplaceBinary<at::logical_or_out>);
ACLNN(BitwiseOrTensor, Binary<at::bitwise_or_out>);
ACLNN(BitwiseOrScalar, WithScalar<at::bitwise_or_out>);
ACLNN(LogicalXor, Binary<at::logical_xor_out>);
ACLNN(BitwiseXorTensor, Binary<at::bitwise_xor_out>);
ACLNN(InplaceBitwiseXorTensor, InplaceBinary<at::bitwise_xor_out>);
ACLNN(BitwiseXorScalar, WithScalar<at::bitwise_xor_out>);
ACLNN(InplaceBitwiseXorScalar, InplaceWithScalar<at::bitwise_xor_out>);
ACLNN(Mul, Binary<at::mul_out>);
ACLNN(InplaceMul, InplaceBinary<at::mul_out>);
ACLNN(Div, Binary<at::div_out>);
ACLNN(InplaceDiv, InplaceBinary<at::div_out>);
ACLNN(Maximum, Binary<at::maximum_out>);
ACLNN(Minimum, Binary<at::minimum_out>);
ACLNN(Atan2, Binary<at::atan2_out>);
ACLNN(InplaceAtan2, InplaceBinary<at::atan2_out>);
ACLNN(Gcd, Binary<at::gcd_out>);
ACLNN(FmodTensor, Binary<at::fmod_out>);
ACLNN(InplaceFmodTensor, InplaceBinary<at::fmod_out>);
ACLNN(RemainderTensorTensor, Binary<at::remainder_out>);
ACLNN(InplaceRemainderTensorTensor, InplaceBinary<at::remainder_out>);
ACLNN(PowTensorTensor, Binary<at::pow_out>);
ACLNN(InplacePowTensorTensor, InplaceBinary<at::pow_out>);
ACLNN(FloorDivide, Binary<at::floor_divide_out>);
ACLNN(InplaceFloorDivide, InplaceBinary<at::floor_divide_out>);
ACLNN(LogAddExp, Binary<at::logaddexp_out>);
ACLNN(LogAddExp2, Binary<at::logaddexp2_out>);
ACLNN(XLogYTensor, Binary<at::xlogy_out>);
ACLNN(LeftShift, Binary<at::bitwise_left_shift_out>);
ACLNN(RightShift, Binary<at::bitwise_right_shift_out>);
ACLNN(Complex, Binary<at::complex_out>);
ACLNN(Polar, Binary<at::polar_out>);
ACLNN(FmodScalar, WithScalar<at::fmod_out>);
ACLNN(InplaceFmodScalar, InplaceWithScalar<at::fmod_out>);
ACLNN(RemainderTensorScalar, WithScalar<at::remainder_out>);
ACLNN(InplaceRemainderTensorScalar, InplaceWithScalar<at::remainder_out>);
ACLNN(PowTensorScalar, WithScalar<at::pow_out>);
ACLNN(InplacePowTensorScalar, InplaceWithScalar<at::pow_out>);
ACLNN(XLogYScalarOther, WithScalar<at::xlogy_out>);
ACLNN(InplaceXLogYScalarOther, InplaceWithScalar<at::xlogy_out>);
ACLNN(Add, Scaled<at::add_out>);
ACLNN(InplaceAdd, InplaceScaled<at::add_out>);
ACLNN(Adds, Broadcasting([](Tensor self, Scalar other, Scalar alpha, Out out) {
        at::add_out(out, self, Number(other), alpha);
      }));
ACLNN(InplaceAdds, Broadcasting([](Out self, Scalar other, Scalar alpha) {
        at::add_out(self, self, Number(other), alpha);
      }));
ACLNN(AddV3, Broadcasting([](Scalar self, Tensor other, Scalar alpha, Out out) {
        at::add_out(out, Number(self), other, alpha);
      }));
ACLNN(Sub, Scaled<at::sub_out>);
ACLNN(InplaceSub, InplaceScaled<at::sub_out>);
ACLNN(Subs, Broadcasting([](Tensor self, Scalar other, Scalar alpha, Out out) {
        at::sub_out(out, self, Number(other), alpha);
      }));
ACLNN(InplaceSubs, Broadcasting([](Out self, Scalar other, Scalar alpha) {
        at::sub_out(self, self, Number(other), alpha);
      }));
ACLNN(Rsub, Broadcasting([](Tensor self, Tensor other, Scalar alpha, Out out) {
        at::sub_out(out, other, self, alpha);
      }));
ACLNN(Rsubs, Broadcasting([](Tensor self, Scalar other, Scalar alpha, Out out) {
        at::sub_out(out, Number(other), self, alpha);
      }));
ACLNN(AddRelu, Broadcasting([](Tensor self, Tensor other, Scalar alpha, Out out) {
        at::add_out(out, self, other, alpha);
        out.relu_();
      }));
ACLNN(InplaceAddRelu, Broadcasting([](Out self, Tensor other, Scalar alpha) {
        at::add_out(self, self, other, alpha);
        self.relu_();
      }));
ACLNN(Muls, Broadcasting([](Tensor self, Scalar other, Out out) { at::mul_out(out, self, Number(other)); }));
ACLNN(InplaceMuls, Broadcasting([](Out self, Scalar other) { at::mul_out(self, self, Number(other)); }));
ACLNN(Divs, Broadcasting([](Tensor self, Scalar other, Out out) { at::div_out(out, self, Number(other)); }));
ACLNN(InplaceDivs, Broadcasting([](Out self, Scalar other) { at::div_out(self, self, Number(other)); }));
ACLNN(DivMod, Broadcasting([](Tensor self, Tensor other, int mode, Out out) {
        at::div_out(out, self, other, Rounding(mode));
      }));
ACLNN(InplaceDivMod,
      Broadcasting([](Out self, Tensor other, int mode) { at::div_out(self, self, other, Rounding(mode)); }));
ACLNN(DivMods, Broadcasting([](Tensor self, Scalar other, int mode, Out out) {
        at::div_out(out, self, Number(other), Rounding(mode));
      }));
ACLNN(InplaceDivMods, Broadcasting([](Out self, Scalar other, int mode) {
        at::div_out(self, self, Number(other), Rounding(mode));
      }));
ACLNN(FloorDivides, Broadcasting([](Tensor self, Scalar other, Out out) {
        at::floor_divide_out(out, self, Number(other));
      }));
ACLNN(InplaceFloorDivides,
      Broadcasting([](Out self, Scalar other) { at::floor_divide_out(self, self, Number(other)); }));
ACLNN(LeftShifts,
      Broadcasting([](Tensor self, Scalar bits, Out out) { at::bitwise_left_shift_out(out, self, bits); }));
ACLNN(PowScalarTensor,
      Broadcasting([](Scalar self, Tensor exponent, Out out) { at::pow_out(out, self, exponent); }));
ACLNN(RemainderScalarTensor,
      Broadcasting([](Scalar self, Tensor other, Out out) { at::remainder_out(out, Number(self), other); }));
ACLNN(XLogYScalarSelf,
      Broadcasting([](Scalar self, Tensor other, Out out) { at::xlogy_out(out, self, other); }));
ACLNN(IsClose, Broadcasting([](Tensor self, Tensor other, double rtol, double atol, bool equalNan, Out out) {
        out.copy_(at::isclose(self, other, rtol, atol, equalNan));
      }));
ACLNN(Equal, [](Tensor self, Tensor other, Out out) { out.fill_(at::equal(self, other)); });

ACLNN(Addcmul, Broadcasting([](Tensor self, Tensor tensor1, Tensor tensor2, Scalar value, Out out) {
        at::addcmul_out(out, self, tensor1, tensor2, value);
      }));
ACLNN(InplaceAddcmul, Broadcasting([](Out self, Tensor tensor1, Tensor tensor2, Scalar value) {
        at::addcmul_out(self, self, tensor1, tensor2, value);
      }));
ACLNN(Addcdiv, Broadcasting([](Tensor self, Tensor tensor1, Tensor tensor2, Scalar value, Out out) {
        at::addcdiv_out(out, self, tensor1, tensor2, value);
      }));
ACLNN(InplaceAddcdiv, Broadcasting([](Out self, Tensor tensor1, Tensor tensor2, Scalar value) {
        at::addcdiv_out(self, self, tensor1, tensor2, value);
      }));
ACLNN(Lerp, Broadcasting([](Tensor self, Tensor end, Tensor weight, Out out) {
        at::lerp_out(out, self, end, weight);
      }));
ACLNN(InplaceLerp,
      Broadcasting([](Out self, Tensor end, Tensor weight) { at::lerp_out(self, self, end, weight); }));
ACLNN(Lerps, Broadcasting([](Tensor self, Tensor end, Scalar weight, Out out) {
        at::lerp_out(out, self, end, weight);
      }));
ACLNN(InplaceLerps,
      Broadcasting([](Out self, Tensor end, Scalar weight) { at::lerp_out(self, self, end, weight); }));
ACLNN(SWhere, Broadcasting([](Tensor condition, Tensor self, Tensor other, Out out) {
        at::where_out(out, condition, self, other);
      }));
