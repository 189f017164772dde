// Operators that map each element of one tensor.
#include "binding.h"
#include "store.h"

namespace simulator::operators {
namespace {

using UnaryKernel = at::Tensor& (*)(at::Tensor&, const at::Tensor&);

template <UnaryKernel kKernel>
constexpr auto Unary = Broadcasting([](Tensor self, Out out) { kKernel(out, self); });

template <UnaryKernel kKernel>
constexpr auto InplaceUnary = Broadcasting([](Out self) { kKernel(self, self); });

}  // namespace
}  // namespace simulator::operators

ACLNN(Abs, Unary<at::abs_out>);
ACLNN(Acos, Unary<at::acos_out>);
ACLNN(InplaceAcos, InplaceUnary<at::acos_out>);
ACLNN(Acosh, Unary<at::acosh_out>);
ACLNN(InplaceAcosh, InplaceUnary<at::acosh_out>);
ACLNN(Asin, Unary<at::asin_out>);
ACLNN(InplaceAsin, InplaceUnary<at::asin_out>);
ACLNN(Asinh, Unary<at::asinh_out>);
ACLNN(InplaceAsinh, InplaceUnary<at::asinh_out>);
ACLNN(Atan, Unary<at::atan_out>);
ACLNN(InplaceAtan, InplaceUnary<at::atan_out>);
ACLNN(Atanh, Unary<at::atanh_out>);
ACLNN(InplaceAtanh, InplaceUnary<at::atanh_out>);
ACLNN(Ceil, Unary<at::ceil_out>);
ACLNN(InplaceCeil, InplaceUnary<at::ceil_out>);
ACLNN(Cos, Unary<at::cos_out>);
ACLNN(InplaceCos, InplaceUnary<at::cos_out>);
ACLNN(Cosh, Unary<at::cosh_out>);
ACLNN(InplaceCosh, InplaceUnary<at::cosh_out>);
ACLNN(Erf, Unary<at::erf_out>);
ACLNN(InplaceErf, InplaceUnary<at::erf_out>);
ACLNN(Erfc, Unary<at::erfc_out>);
ACLNN(InplaceErfc, InplaceUnary<at::erfc_out>);
ACLNN(Erfinv, Unary<at::erfinv_out>);
ACLNN(InplaceErfinv, InplaceUnary<at::erfinv_out>);
ACLNN(Exp, Unary<at::exp_out>);
ACLNN(InplaceExp, InplaceUnary<at::exp_out>);
ACLNN(Exp2, Unary<at::exp2_out>);
ACLNN(InplaceExp2, InplaceUnary<at::exp2_out>);
ACLNN(Expm1, Unary<at::expm1_out>);
ACLNN(InplaceExpm1, InplaceUnary<at::expm1_out>);
ACLNN(Floor, Unary<at::floor_out>);
ACLNN(InplaceFloor, InplaceUnary<at::floor_out>);
ACLNN(Frac, Unary<at::frac_out>);
ACLNN(InplaceFrac, InplaceUnary<at::frac_out>);
ACLNN(Log, Unary<at::log_out>);
ACLNN(InplaceLog, InplaceUnary<at::log_out>);
ACLNN(Log10, Unary<at::log10_out>);
ACLNN(InplaceLog10, InplaceUnary<at::log10_out>);
ACLNN(Log1p, Unary<at::log1p_out>);
ACLNN(InplaceLog1p, InplaceUnary<at::log1p_out>);
ACLNN(Log2, Unary<at::log2_out>);
ACLNN(InplaceLog2, InplaceUnary<at::log2_out>);
ACLNN(Neg, Unary<at::neg_out>);
ACLNN(Reciprocal, Unary<at::reciprocal_out>);
ACLNN(InplaceReciprocal, InplaceUnary<at::reciprocal_out>);
ACLNN(Round, Unary<at::round_out>);
ACLNN(Rsqrt, Unary<at::rsqrt_out>);
ACLNN(InplaceRsqrt, InplaceUnary<at::rsqrt_out>);
ACLNN(Sigmoid, Unary<at::sigmoid_out>);
ACLNN(InplaceSigmoid, InplaceUnary<at::sigmoid_out>);
ACLNN(Sign, Unary<at::sgn_out>);  // torch_npu calls it for complex numbers as well
ACLNN(Sin, Unary<at::sin_out>);
ACLNN(InplaceSin, InplaceUnary<at::sin_out>);
ACLNN(Sinc, Unary<at::sinc_out>);
ACLNN(InplaceSinc, InplaceUnary<at::sinc_out>);
ACLNN(Sinh, Unary<at::sinh_out>);
ACLNN(InplaceSinh, InplaceUnary<at::sinh_out>);
ACLNN(Sqrt, Unary<at::sqrt_out>);
ACLNN(InplaceSqrt, InplaceUnary<at::sqrt_out>);
ACLNN(Tan, Unary<at::tan_out>);
ACLNN(InplaceTan, InplaceUnary<at::tan_out>);
ACLNN(Tanh, Unary<at::tanh_out>);
ACLNN(InplaceTanh, InplaceUnary<at::tanh_out>);
ACLNN(Trunc, Unary<at::trunc_out>);
ACLNN(BitwiseNot, Unary<at::bitwise_not_out>);
ACLNN(LogicalNot, Unary<at::logical_not_out>);
ACLNN(InplaceLogicalNot, InplaceUnary<at::logical_not_out>);
ACLNN(Signbit, Unary<at::signbit_out>);
ACLNN(IsNegInf, Unary<at::isneginf_out>);
ACLNN(IsPosInf, Unary<at::isposinf_out>);

ACLNN(IsFinite, Broadcasting([](Tensor self, Out out) { out.copy_(at::isfinite(self)); }));
ACLNN(AngleV2, Unary<at::angle_out>);
ACLNN(RoundDecimals,
      Broadcasting([](Tensor self, int64_t decimals, Out out) { at::round_out(out, self, decimals); }));
ACLNN(InplaceRoundDecimals,
      Broadcasting([](Out self, int64_t decimals) { at::round_out(self, self, decimals); }));
ACLNN(Cast, Broadcasting([](Tensor self, Type dtype, Out out) {
        TORCH_CHECK_TYPE(dtype == out.scalar_type(), "the output tensor has dtype ", out.scalar_type(),
                         ", not ", dtype);
        out.copy_(self);
      }));
ACLNN(InplaceCopy, Broadcasting([](Out self, Tensor source) { self.copy_(source); }));
ACLNN(InplaceFillScalar, Broadcasting([](Out self, Scalar value) { self.fill_(value); }));
ACLNN(InplaceFillTensor, [](Out self, Tensor value) { self.fill_(value.reshape({})); });
ACLNN(InplaceZero, [](Out self) { self.zero_(); });
ACLNN(InplaceOne, [](Out self) { self.fill_(1); });
ACLNN(NanToNum, Broadcasting([](Tensor self, float nan, float posinf, float neginf, Out out) {
        at::nan_to_num_out(out, self, nan, posinf, neginf);
      }));
ACLNN(InplaceNanToNum, Broadcasting([](Out self, float nan, float posinf, float neginf) {
        at::nan_to_num_(self, nan, posinf, neginf);
      }));
ACLNN(Clamp, Broadcasting([](Tensor self, OptionalScalar low, OptionalScalar high, Out out) {
        at::clamp_out(out, self, low, high);
      }));
ACLNN(ClampMin, Broadcasting([](Tensor self, Scalar low, Out out) { at::clamp_min_out(out, self, low); }));
ACLNN(ClampMax, Broadcasting([](Tensor self, Scalar high, Out out) { at::clamp_max_out(out, self, high); }));
ACLNN(InplaceClampMax, Broadcasting([](Out self, Scalar high) { at::clamp_max_out(self, self, high); }));
ACLNN(ClampTensor, Broadcasting([](Tensor self, OptionalTensor low, OptionalTensor high, Out out) {
        at::clamp_out(out, self, low, high);
      }));
ACLNN(ClampMinTensor,
      Broadcasting([](Tensor self, Tensor low, Out out) { at::clamp_min_out(out, self, low); }));
ACLNN(ClampMaxTensor,
      Broadcasting([](Tensor self, Tensor high, Out out) { at::clamp_max_out(out, self, high); }));
ACLNN(InplaceClampMinTensor, Broadcasting([](Out self, Tensor low) { at::clamp_min_out(self, self, low); }));
ACLNN(InplaceClampMaxTensor,
      Broadcasting([](Out self, Tensor high) { at::clamp_max_out(self, self, high); }));
ACLNN(Logit, Broadcasting([](Tensor self, double eps, Out out) {
        at::logit_out(out, self, eps < 0 ? std::nullopt : std::optional(eps));
      }));
ACLNN(LogitGrad, Broadcasting([](Tensor self, Tensor gradOutput, double eps, Out out) {
        Store(out, at::logit_backward(gradOutput, self, eps < 0 ? std::nullopt : std::optional(eps)));
      }));
