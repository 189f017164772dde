// Operators of the older aclop interface that move values.
#include "legacy.h"
#include "store.h"

namespace simulator::operators {
namespace {

// torch_npu calls it to change between formats of the same layout.
const LegacyOperator identity{
    "Identity", [](LegacyCall& call) { call.Output(0).copy_(call.Input(0).view(call.Output(0).sizes())); }};

// The paddings are pairs, the first dimension's first: the reverse of ATen's order.
const LegacyOperator pad{"Pad", [](LegacyCall& call) {
                           const auto pairs = call.Input(1).to(at::kLong).reshape({-1, 2});
                           const auto reversed = pairs.flip(0).reshape(-1).contiguous();
                           const auto* first = reversed.const_data_ptr<int64_t>();
                           const at::IntArrayRef pads(first, reversed.numel());
                           Store(call.Output(0), at::constant_pad_nd(call.Input(0), pads));
                         }};

}  // namespace
}  // namespace simulator::operators
