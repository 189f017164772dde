// Products of groups: each group of rows, or of summed columns, has a weight of its own.
#include "binding.h"
#include "checks.h"
#include "dtypes.h"
#include "quantize.h"
#include "store.h"

namespace simulator::operators {
namespace {

enum GroupType : int64_t { kNoGroups = -1, kRows = 0, kSummed = 2 };
enum GroupListType : int64_t { kEnds = 0, kCounts = 1, kIndexedCounts = 2 };

// The part of the rows or columns that belongs to one weight.
struct Group {
  int64_t weight, start, length;
};

std::vector<int64_t> Numbers(Tensor tensor) {
  const auto numbers = tensor.to(at::kLong).contiguous();
  return {numbers.data_ptr<int64_t>(), numbers.data_ptr<int64_t>() + numbers.numel()};
}

std::vector<Group> GroupsOf(Tensor list, int64_t type) {
  std::vector<Group> groups;
  const auto numbers = Numbers(list.flatten());
  const int64_t step = type == kIndexedCounts ? 2 : 1;
  int64_t start = 0;
  for (size_t i = 0; i + step <= numbers.size(); i += step) {
    const auto weight = type == kIndexedCounts ? numbers[i] : static_cast<int64_t>(i);
    const auto length = type == kEnds ? numbers[i] - start : numbers[i + step - 1];
    TORCH_CHECK_VALUE(length >= 0, "a group of ", length, " rows");
    groups.push_back({weight, start, length});
    start += length;
  }
  return groups;
}

// Without a list each tensor of x is a group.
std::vector<Group> GroupsOf(const std::vector<at::Tensor>& x) {
  std::vector<Group> groups;
  int64_t start = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    groups.push_back({static_cast<int64_t>(i), start, x[i].size(0)});
    start += x[i].size(0);
  }
  return groups;
}

// A parameter of one group out of a list of one tensor a group, or out of one tensor that has a row a group.
std::optional<at::Tensor> OfGroup(const std::vector<at::Tensor>& list, int64_t group, int64_t dims) {
  if (list.empty()) return std::nullopt;
  if (list.size() > 1) return list.at(group);
  if (list[0].dim() > dims) return list[0].select(0, group);
  return list[0].numel() > 0 ? std::optional(list[0]) : std::nullopt;
}

struct GroupedInputs {
  std::vector<at::Tensor> x, weight, bias, scale, antiquantScale, antiquantOffset, rowScale;
  int64_t groupType, activation;
};

at::Tensor Activated(Tensor values, int64_t activation) {
  switch (activation) {
    case 0:
      return values;
    case 1:
      return at::relu(values);
    case 2:
      return at::gelu(values, "tanh");
    case 4:
      return values * at::sigmoid(values * 1.702);
    default:
      return at::silu(values);
  }
}

// Scales of blocks of rows, repeated to cover all rows.
at::Tensor SpreadRows(Tensor parameter, int64_t rows) {
  const auto wide = Widened(parameter);
  if (wide.dim() < 2 || wide.size(0) == 1 || wide.size(0) == rows) return wide;
  return wide.repeat_interleave((rows + wide.size(0) - 1) / wide.size(0), 0).narrow(0, 0, rows);
}

at::Tensor WeightOfGroup(const GroupedInputs& inputs, const Group& group) {
  const auto& list = inputs.weight;
  auto weight = list.size() > 1 ? list.at(group.weight) : list[0];
  if (inputs.groupType == kSummed && list.size() == 1)
    weight = weight.narrow(0, group.start, group.length);
  else if (list.size() == 1 && weight.dim() == 3)
    weight = weight.select(0, group.weight);
  const auto scale = OfGroup(inputs.antiquantScale, group.weight, list.size() > 1 ? 2 : 1);
  if (!c10::isIntegralType(weight.scalar_type(), false)) return Widened(weight);
  auto values = DequantisedMatrix(weight);
  const auto offset = OfGroup(inputs.antiquantOffset, group.weight, list.size() > 1 ? 2 : 1);
  if (offset) values = values + SpreadRows(*offset, values.size(0));
  return scale ? values * SpreadRows(*scale, values.size(0)) : values;
}

at::Tensor RowsOfGroup(const GroupedInputs& inputs, const Group& group) {
  if (inputs.x.size() > 1) return inputs.x.at(group.weight);
  if (inputs.groupType == kNoGroups) return inputs.x[0];
  return inputs.x[0].narrow(inputs.groupType == kSummed ? 1 : 0, group.start, group.length);
}

at::Tensor ProductOfGroup(const GroupedInputs& inputs, const Group& group) {
  const auto rows = RowsOfGroup(inputs, group);
  const auto weight = WeightOfGroup(inputs, group);
  const auto bias = OfGroup(inputs.bias, group.weight, 1);
  const bool integers = c10::isIntegralType(rows.scalar_type(), false);
  const bool earlyBias = bias && bias->scalar_type() == at::kInt;
  auto result = integers ? at::matmul(Dequantised(rows).to(at::kDouble), weight.to(at::kDouble))
                         : at::matmul(Widened(rows), weight);
  if (earlyBias) result = result + *bias;
  const auto scale = OfGroup(inputs.scale, group.weight, 1);
  if (scale) result = result * ScaleOf(*scale);
  if (!inputs.rowScale.empty() && inputs.rowScale[0].numel() > 0) {
    const auto& all = inputs.rowScale[inputs.rowScale.size() > 1 ? group.weight : 0];
    const auto own = inputs.rowScale.size() > 1 ? all : all.flatten().narrow(0, group.start, group.length);
    result = result * own.flatten().unsqueeze(-1);
  }
  if (bias && !earlyBias) result = result + Widened(*bias);
  return Activated(result.to(at::kFloat), inputs.activation);
}

at::Tensor ResultOfGroup(const std::vector<at::Tensor>& out, const GroupedInputs& inputs, const Group& group,
                         int64_t groups) {
  if (static_cast<int64_t>(out.size()) > 1) return out.at(group.weight);
  if (inputs.groupType == kSummed) return out[0].dim() == 3 ? out[0].select(0, group.weight) : out[0];
  return groups == 1 && inputs.groupType == kNoGroups ? out[0] : out[0].narrow(0, group.start, group.length);
}

void StoreResult(at::Tensor out, Tensor result) {
  if (out.scalar_type() == at::kChar) return StoreQuantised(out, result);
  if (out.scalar_type() == at::kInt) {
    out.copy_(at::round(result));
    return;
  }
  Store(out, result);
}

const at::Tensor& OneOf(const std::vector<at::Tensor>& list, size_t index) {
  return list.size() == 1 ? list[0] : list.at(index);
}

// A list holds one tensor for all groups, or one for each.
void CheckOperands(const GroupedInputs& inputs, Tensors out) {
  const auto count = std::max({inputs.x.size(), inputs.weight.size(), out.size()});
  for (const auto* list : {&inputs.x, &inputs.weight, &out}) {
    TORCH_CHECK_VALUE(list->size() == 1 || list->size() == count, "lists of ", list->size(), " and ", count,
                      " tensors do not fit together");
  }
  for (size_t i = 0; i < count; ++i) {
    const auto &x = OneOf(inputs.x, i), &weight = OneOf(inputs.weight, i), &result = OneOf(out, i);
    CheckDtype("x", x, {at::kFloat, at::kHalf, at::kBFloat16, at::kChar});
    CheckDtype("weight", weight, {at::kFloat, at::kHalf, at::kBFloat16, at::kChar, at::kInt});
    TORCH_CHECK_VALUE(x.dim() >= 2 && weight.dim() >= 2 && result.dim() >= 2, "operands of shapes ",
                      x.sizes(), " and ", weight.sizes(), " are no matrices");
    const auto shape = MatrixShape(weight);
    TORCH_CHECK_VALUE(x.size(-1) == shape[shape.size() - 2] && result.size(-1) == shape.back(), "x of shape ",
                      x.sizes(), ", weights of shape ", shape, " and a result of shape ", result.sizes(),
                      " do not fit together");
  }
}

// Each group has a weight: a tensor, or a matrix of the only one.
void CheckGroupList(Tensor list, int64_t type, const std::vector<at::Tensor>& weight) {
  CheckIndex("the group list", list);
  if (weight.size() == 1 && weight[0].dim() != 3) return;
  const auto weights = weight.size() > 1 ? static_cast<int64_t>(weight.size()) : weight[0].size(0);
  const auto groups = type == kIndexedCounts ? list.numel() / 2 : list.numel();
  TORCH_CHECK_VALUE(groups <= weights, groups, " groups for ", weights, " weights");
}

Plan GroupedMatmul(GroupedInputs inputs, std::function<std::vector<Group>()> groups, Tensors out) {
  TORCH_CHECK_VALUE(!inputs.x.empty() && !inputs.weight.empty() && !out.empty(),
                    "x, weight or the result is empty");
  TORCH_CHECK_VALUE(inputs.groupType == kNoGroups || inputs.groupType == kRows || inputs.groupType == kSummed,
                    "the group type ", inputs.groupType, " is not implemented");
  TORCH_CHECK_VALUE(inputs.activation >= 0 && inputs.activation <= 5 && inputs.activation != 3,
                    "the activation ", inputs.activation, " is not implemented");
  CheckOperands(inputs, out);
  const auto weightType = inputs.weight[0].scalar_type();
  const bool packedWeights = weightType == at::kInt && inputs.x[0].scalar_type() == at::kChar;
  TORCH_CHECK_VALUE(!packedWeights, "int8 rows with int4 weights are not implemented");
  return [=] {
    const auto all = groups();
    for (const auto& group : all) {
      if (group.length == 0 && inputs.groupType == kRows) continue;
      const auto target = ResultOfGroup(out, inputs, group, static_cast<int64_t>(all.size()));
      StoreResult(target, ProductOfGroup(inputs, group));
    }
  };
}

struct GroupedOptions {
  int64_t groupType, listType, activation;
};

void CheckNothingElse(const std::vector<at::Tensor>& offset, const std::vector<at::Tensor>& activationInput,
                      const std::vector<at::Tensor>& activationScale,
                      const std::vector<at::Tensor>& activationOffset) {
  const auto filled = [](const std::vector<at::Tensor>& list) {
    return !list.empty() && list[0].numel() > 0;
  };
  TORCH_CHECK_VALUE(!filled(offset), "an offset of the result is not implemented");
  TORCH_CHECK_VALUE(!filled(activationInput) && !filled(activationScale) && !filled(activationOffset),
                    "a quantised activation is not implemented");
}

Plan GroupedMatmulByTensor(Tensors x, Tensors weight, Tensors bias, Tensors scale, Tensors offset,
                           Tensors antiquantScale, Tensors antiquantOffset, Tensors rowScale,
                           OptionalTensor list, Tensors activationInput, Tensors activationScale,
                           Tensors activationOffset, GroupedOptions options, Tensors out) {
  CheckNothingElse(offset, activationInput, activationScale, activationOffset);
  TORCH_CHECK_VALUE(options.listType >= kEnds && options.listType <= kIndexedCounts, "the group list type ",
                    options.listType, " is not known");
  TORCH_CHECK_VALUE(options.groupType == kNoGroups || list || x.size() > 1, "the group list is missing");
  if (list) CheckGroupList(*list, options.listType, weight);
  const bool listed = list && options.groupType != kNoGroups && x.size() == 1;
  const auto groups = [=] { return listed ? GroupsOf(*list, options.listType) : GroupsOf(x); };
  return GroupedMatmul({x, weight, bias, scale, antiquantScale, antiquantOffset, rowScale, options.groupType,
                        options.activation},
                       groups, out);
}

// self += transposed x times weight, for each group of rows of both.
Plan GroupedMatmulAdd(Tensor x, Tensor weight, Tensor list, Out self, bool transposeX, bool transposeWeight,
                      int64_t groupType, int64_t listType) {
  TORCH_CHECK_VALUE(transposeX && !transposeWeight && groupType == kSummed,
                    "only groups of summed rows, with x transposed, are implemented");
  TORCH_CHECK_VALUE(listType == kEnds || listType == kCounts, "the group list type ", listType,
                    " is not known");
  TORCH_CHECK_VALUE(x.dim() == 2 && weight.dim() == 2 && x.size(0) == weight.size(0), "operands of shapes ",
                    x.sizes(), " and ", weight.sizes(), " do not fit together");
  CheckHalf("x", x);
  CheckSameDtype("weight", weight, x);
  CheckIndex("the group list", list);
  CheckDtype("the sum", self, {at::kFloat});
  TORCH_CHECK_VALUE(self.numel() == list.numel() * x.size(1) * weight.size(1), "a sum of shape ",
                    self.sizes(), " for ", list.numel(), " groups");
  return [=]() mutable {
    std::vector<at::Tensor> products;
    for (const auto& group : GroupsOf(list, listType)) {
      const auto rows = Widened(x.narrow(0, group.start, group.length));
      products.push_back(at::matmul(rows.t(), Widened(weight.narrow(0, group.start, group.length))));
    }
    Store(self, Widened(self) + at::stack(products).reshape(self.sizes()));
  };
}

}  // namespace
}  // namespace simulator::operators

ACLNN(GroupedMatmul, Planning([](Tensors x, Tensors weight, Tensors bias, Tensors scale, Tensors offset,
                                 Tensors antiquantScale, Tensors antiquantOffset, Sizes ends,
                                 int64_t /*splitItem, told by the lists*/, Tensors out) {
        CheckNothingElse(offset, {}, {}, {});
        const bool listed = !ends.empty() && x.size() == 1;
        const auto list = at::tensor(ends);
        const auto groups = [=] { return listed ? GroupsOf(list, kEnds) : GroupsOf(x); };
        return GroupedMatmul(
            {x, weight, bias, scale, antiquantScale, antiquantOffset, {}, listed ? kRows : kNoGroups, 0},
            groups, out);
      }));
ACLNN(GroupedMatmulV4,
      Planning([](Tensors x, Tensors weight, Tensors bias, Tensors scale, Tensors offset,
                  Tensors antiquantScale, Tensors antiquantOffset, Tensors rowScale, OptionalTensor list,
                  Tensors activationInput, Tensors activationScale, Tensors activationOffset,
                  int64_t /*splitItem*/, int64_t groupType, int64_t listType, int64_t activation, Tensors out,
                  Tensors /*activationOut*/, Tensors /*dynamicScaleOut*/) {
        return GroupedMatmulByTensor(x, weight, bias, scale, offset, antiquantScale, antiquantOffset,
                                     rowScale, list, activationInput, activationScale, activationOffset,
                                     {groupType, listType, activation}, out);
      }));
ACLNN(GroupedMatmulV5,
      Planning([](Tensors x, Tensors weight, Tensors bias, Tensors scale, Tensors offset,
                  Tensors antiquantScale, Tensors antiquantOffset, Tensors rowScale, OptionalTensor list,
                  Tensors activationInput, Tensors activationScale, Tensors activationOffset,
                  int64_t /*splitItem*/, int64_t groupType, int64_t listType, int64_t activation,
                  Sizes /*tuning*/, Tensors out, Tensors /*activationOut*/, Tensors /*dynamicScaleOut*/) {
        return GroupedMatmulByTensor(x, weight, bias, scale, offset, antiquantScale, antiquantOffset,
                                     rowScale, list, activationInput, activationScale, activationOffset,
                                     {groupType, listType, activation}, out);
      }));
ACLNN(GroupedMatmulWeightNz,
      Planning([](Tensors x, Tensors weight, Tensors bias, Tensors scale, Tensors offset,
                  Tensors antiquantScale, Tensors antiquantOffset, Tensors rowScale, OptionalTensor list,
                  Tensors activationInput, Tensors activationScale, Tensors activationOffset,
                  int64_t /*splitItem*/, int64_t groupType, int64_t listType, int64_t activation,
                  Sizes /*tuning*/, int64_t /*quantGroupSize*/, Tensors out, Tensors /*activationOut*/,
                  Tensors /*dynamicScaleOut*/) {
        return GroupedMatmulByTensor(x, weight, bias, scale, offset, antiquantScale, antiquantOffset,
                                     rowScale, list, activationInput, activationScale, activationOffset,
                                     {groupType, listType, activation}, out);
      }));
// No public header declares these two: their parameters are those of the operator definition, and what
// torch_npu passes.
ACLNN(GroupedMatmulAdd, Planning([](Tensor x, Tensor weight, Tensor list, Out self, bool transposeX,
                                    bool transposeWeight, int64_t groupType) {
        return GroupedMatmulAdd(x, weight, list, self, transposeX, transposeWeight, groupType, kEnds);
      }));
ACLNN(GroupedMatmulAddV2, Planning(GroupedMatmulAdd));
