// Arithmetic of the older aclop interface, which torch_npu calls for tensors in private formats.
#include "legacy.h"
#include "store.h"

namespace simulator::operators {
namespace {

const LegacyOperator add{
    "Add", [](const LegacyCall& call) { call.Return(0, at::add(call.Input(0), call.Input(1))); }};
const LegacyOperator subtract{
    "Sub", [](const LegacyCall& call) { call.Return(0, at::sub(call.Input(0), call.Input(1))); }};
const LegacyOperator multiply{
    "Mul", [](const LegacyCall& call) { call.Return(0, at::mul(call.Input(0), call.Input(1))); }};
const LegacyOperator divide{
    "RealDiv", [](const LegacyCall& call) { call.Return(0, at::div(call.Input(0), call.Input(1))); }};

const LegacyOperator addProduct{"Addcmul", [](const LegacyCall& call) {
                                  const auto product = Widened(call.Input(1)) * Widened(call.Input(2)) *
                                                       Widened(call.Input(3));
                                  call.Return(0, Widened(call.Input(0)) + product);
                                }};

const LegacyOperator convert{"Cast", [](const LegacyCall& call) { call.Return(0, call.Input(0)); }};

const LegacyOperator all{
    "ReduceAll", [](const LegacyCall& call) {
      call.Return(0, at::all(call.Input(0), call.Numbers(1), call.Attribute("keep_dims", false)));
    }};
const LegacyOperator any{
    "ReduceAny", [](const LegacyCall& call) {
      call.Return(0, at::any(call.Input(0), call.Numbers(1), call.Attribute("keep_dims", false)));
    }};
const LegacyOperator sum{
    "ReduceSum", [](const LegacyCall& call) {
      call.Return(0, Widened(call.Input(0)).sum(call.Numbers(1), call.Attribute("keep_dims", false)));
    }};

}  // namespace
}  // namespace simulator::operators
