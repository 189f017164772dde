// Functions of elements in the older aclop interface, which torch_npu calls where operators are
// compiled just in time.
#include "legacy.h"
#include "store.h"

namespace simulator::operators {
namespace {

template <at::Tensor (*kFunction)(const at::Tensor&)>
void Elementwise(const LegacyCall& call) {
  call.Return(0, kFunction(Widened(call.Input(0))));
}

const LegacyOperator elementwise[] = {
    {"Abs", &Elementwise<at::abs>},           {"Acos", &Elementwise<at::acos>},
    {"Asin", &Elementwise<at::asin>},         {"Atan", &Elementwise<at::atan>},
    {"Ceil", &Elementwise<at::ceil>},         {"Cos", &Elementwise<at::cos>},
    {"Cosh", &Elementwise<at::cosh>},         {"Erf", &Elementwise<at::erf>},
    {"Erfc", &Elementwise<at::erfc>},         {"Exp", &Elementwise<at::exp>},
    {"Expm1", &Elementwise<at::expm1>},       {"Floor", &Elementwise<at::floor>},
    {"IsFinite", &Elementwise<at::isfinite>}, {"IsInf", &Elementwise<at::isinf>},
    {"IsNan", &Elementwise<at::isnan>},       {"Log", &Elementwise<at::log>},
    {"Log1p", &Elementwise<at::log1p>},       {"LogicalNot", &Elementwise<at::logical_not>},
    {"Neg", &Elementwise<at::neg>},           {"Reciprocal", &Elementwise<at::reciprocal>},
    {"Relu", &Elementwise<at::relu>},         {"Round", &Elementwise<at::round>},
    {"Rsqrt", &Elementwise<at::rsqrt>},       {"Sigmoid", &Elementwise<at::sigmoid>},
    {"Sign", &Elementwise<at::sign>},         {"Sin", &Elementwise<at::sin>},
    {"Sinh", &Elementwise<at::sinh>},         {"Sqrt", &Elementwise<at::sqrt>},
    {"Square", &Elementwise<at::square>},     {"Tan", &Elementwise<at::tan>},
    {"Tanh", &Elementwise<at::tanh>},
};

using FunctionOfTwo = at::Tensor (*)(const at::Tensor&, const at::Tensor&);

template <FunctionOfTwo kFunction>
void Pairwise(const LegacyCall& call) {
  call.Return(0, kFunction(call.Input(0), call.Input(1)));
}

const LegacyOperator pairwise[] = {
    {"Equal", &Pairwise<at::eq>},
    {"Greater", &Pairwise<at::gt>},
    {"GreaterEqual", &Pairwise<at::ge>},
    {"Less", &Pairwise<at::lt>},
    {"LessEqual", &Pairwise<at::le>},
    {"LogicalAnd", &Pairwise<at::logical_and>},
    {"LogicalOr", &Pairwise<at::logical_or>},
    {"Maximum", &Pairwise<at::maximum>},
    {"Minimum", &Pairwise<at::minimum>},
    {"NotEqual", &Pairwise<at::ne>},
};

}  // namespace
}  // namespace simulator::operators
