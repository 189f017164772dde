// Operators of the older aclop interface that take parts of a tensor or repeat them.
#include "legacy.h"

namespace simulator::operators {
namespace {

const LegacyOperator slice{"Slice", [](const LegacyCall& call) {
                             const auto offsets = call.Numbers(1), sizes = call.Numbers(2);
                             auto part = call.Input(0);
                             for (size_t dim = 0; dim < offsets.size(); ++dim) {
                               part = part.narrow(static_cast<int64_t>(dim), offsets[dim], sizes.at(dim));
                             }
                             call.Return(0, part);
                           }};

// A mask has a bit for each dimension: whether it is taken from its beginning, or to its end.
bool Masked(const LegacyCall& call, std::string_view mask, size_t dim) {
  return (call.Attribute<int64_t>(mask, 0) >> dim & 1) != 0;
}

const LegacyOperator stridedSlice{
    "StridedSlice", [](const LegacyCall& call) {
      for (const auto* mask : {"ellipsis_mask", "new_axis_mask", "shrink_axis_mask"}) {
        TORCH_CHECK_NOT_IMPLEMENTED(call.Attribute<int64_t>(mask, 0) == 0, mask, " is not implemented");
      }
      const auto begins = call.Numbers(1), ends = call.Numbers(2), strides = call.Numbers(3);
      auto part = call.Input(0);
      for (size_t dim = 0; dim < begins.size(); ++dim) {
        const auto along = static_cast<int64_t>(dim);
        const auto begin = Masked(call, "begin_mask", dim) ? 0 : begins[dim];
        const auto end = Masked(call, "end_mask", dim) ? part.size(along) : ends.at(dim);
        part = part.slice(along, begin, end, strides.at(dim));
      }
      call.Return(0, part);
    }};

const LegacyOperator broadcast{
    "BroadcastTo", [](const LegacyCall& call) { call.Return(0, call.Input(0).expand(call.Numbers(1))); }};

struct Extremes {
  at::Tensor values, places;
};

void ReturnExtremes(const LegacyCall& call, const Extremes& extremes) {
  call.Return(0, extremes.places);
  call.Return(1, extremes.values);
}

const LegacyOperator largest{"ArgMaxWithValue", [](const LegacyCall& call) {
                               const auto found = call.Input(0).max(call.Attribute<int64_t>("dimension", 0),
                                                                    call.Attribute("keep_dims", false));
                               ReturnExtremes(call, {std::get<0>(found), std::get<1>(found)});
                             }};

const LegacyOperator least{"ArgMinWithValue", [](const LegacyCall& call) {
                             const auto found = call.Input(0).min(call.Attribute<int64_t>("dimension", 0),
                                                                  call.Attribute("keep_dims", false));
                             ReturnExtremes(call, {std::get<0>(found), std::get<1>(found)});
                           }};

const LegacyOperator sort{"SortV2", [](const LegacyCall& call) {
                            const auto sorted = call.Input(0).sort(call.Attribute<int64_t>("axis", -1),
                                                                   call.Attribute("descending", false));
                            call.Return(0, std::get<0>(sorted));
                          }};

const LegacyOperator confusion{
    "ConfusionTransposeD", [](const LegacyCall& call) {
      const auto input = call.Input(0);
      const auto order = call.Attribute("perm", std::vector<int64_t>()),
                 shape = call.Attribute("shape", std::vector<int64_t>());
      const bool first = call.Attribute("transpose_first", true);
      call.Return(0, first ? input.permute(order).reshape(shape) : input.reshape(shape).permute(order));
    }};

// The second input is the value at the places that the first one names, the third one the value elsewhere.
const LegacyOperator oneHot{
    "OneHotD", [](const LegacyCall& call) {
      const auto depth = call.Attribute<int64_t>("depth", 1);
      const auto hot = call.Input(0).unsqueeze(-1).eq(at::arange(depth));
      call.Return(
          0, at::where(hot, call.Input(1), call.Input(2)).movedim(-1, call.Attribute<int64_t>("axis", -1)));
    }};

// The parts begin at a number of blocks of channels; each block holds 16 of them.
constexpr int64_t kBlock = 16;

at::Tensor BlocksOf(const LegacyCall& call, size_t index, const char* offsetName) {
  const auto input = call.Input(index);
  const auto first = call.Attribute<int64_t>(offsetName, 0) * kBlock;
  const auto part = input.narrow(1, first, input.size(1) - first);
  auto shape = part.sizes().vec();
  shape[1] = call.Attribute<int64_t>("c1_len", 0) * kBlock - part.size(1);
  return at::cat({part, at::zeros(shape, part.options())}, 1);
}

const LegacyOperator strideAdd{
    "StrideAdd", [](const LegacyCall& call) {
      call.Return(0, BlocksOf(call, 0, "x1_c1_offset") + BlocksOf(call, 1, "x2_c1_offset"));
    }};

}  // namespace
}  // namespace simulator::operators
