// Operators of the older aclop interface that move values.
#include "legacy.h"

namespace simulator::operators {
namespace {

// torch_npu calls it to change between formats of the same layout.
const LegacyOperator identity{
    "Identity", [](const LegacyCall& call) { call.Return(0, call.Input(0).view(call.Output(0).sizes())); }};

// The paddings are pairs, the first dimension's first: the reverse of ATen's order.
const LegacyOperator pad{"Pad", [](const LegacyCall& call) {
                           const auto paddings = call.Numbers(1);
                           const auto pairs =
                               at::tensor(paddings).view({-1, 2}).flip(0).flatten().contiguous();
                           const at::IntArrayRef reversed(pairs.const_data_ptr<int64_t>(), pairs.numel());
                           call.Return(0, at::constant_pad_nd(call.Input(0), reversed));
                         }};

const LegacyOperator transpose{
    "Transpose", [](const LegacyCall& call) { call.Return(0, call.Input(0).permute(call.Numbers(1))); }};

const LegacyOperator concatenate{"ConcatD", [](const LegacyCall& call) {
                                   std::vector<at::Tensor> parts;
                                   for (size_t i = 0; i < call.Inputs(); ++i) parts.push_back(call.Input(i));
                                   call.Return(0, at::cat(parts, call.Attribute<int64_t>("concat_dim", 0)));
                                 }};

// The first input repeats the shape of the output.
const LegacyOperator fill{"Fill", [](const LegacyCall& call) { call.Output(0).fill_(call.Input(1).item()); }};

const LegacyOperator asStrided{"AsStrided", [](const LegacyCall& call) {
                                 const auto offset = call.Numbers(3).at(0);
                                 call.Return(0, call.Strided(0, call.Numbers(1), call.Numbers(2), offset));
                               }};

// Each view is a tensor, sizes, strides and an offset. The output is the first tensor again.
const LegacyOperator viewCopy{"ViewCopy", [](const LegacyCall& call) {
                                const auto view = [&](size_t first) {
                                  return call.Strided(first, call.Numbers(first + 1), call.Numbers(first + 2),
                                                      call.Numbers(first + 3).at(0));
                                };
                                view(0).copy_(view(4));
                              }};

}  // namespace
}  // namespace simulator::operators
