// Gathering from and scattering to the positions that an index names along one dimension.
#include <ATen/ATen.h>  // the headers below do not include all that they need
#include <ATen/ops/gather_meta_dispatch.h>
#include <ATen/ops/scatter_add_meta_dispatch.h>
#include <ATen/ops/scatter_meta_dispatch.h>
#include <ATen/ops/scatter_reduce_meta_dispatch.h>

#include "binding.h"
#include "checks.h"
#include "store.h"

namespace simulator::operators {
namespace {

Plan Gather(Tensor self, int64_t dim, Tensor index, Out out) {
  CheckLike(out, at::meta::gather(Bare(self), dim, Bare(index)));
  return [=]() mutable { Store(out, at::gather(self, dim, index)); };
}

// The modes of the scatter operators: 0 replaces, 1 adds, 2 multiplies.
std::optional<std::string_view> ScatterReduction(int64_t mode) {
  TORCH_CHECK_VALUE(mode >= 0 && mode <= 2, "scatter mode ", mode, " is not implemented");
  if (mode == 0) return std::nullopt;
  return mode == 1 ? "add" : "multiply";
}

Plan Scatter(Tensor self, int64_t dim, Tensor index, Tensor source, int64_t mode, Out out) {
  const auto reduction = ScatterReduction(mode);
  CheckLike(out, at::meta::scatter(Bare(self), dim, Bare(index), Bare(source)));
  return [=]() mutable {
    Store(out, reduction ? at::scatter(self, dim, index, source, *reduction)
                         : at::scatter(self, dim, index, source));
  };
}

Plan InplaceScatter(Out self, int64_t dim, Tensor index, Tensor source, int64_t mode) {
  return Scatter(self, dim, index, source, mode, self);
}

Plan ScatterValue(Tensor self, int64_t dim, Tensor index, Scalar value, int64_t mode, Out out) {
  const auto reduction = ScatterReduction(mode);
  CheckLike(out, at::meta::scatter(Bare(self), dim, Bare(index), value));
  return [=]() mutable {
    Store(out, reduction ? at::scatter(self, dim, index, value, *reduction)
                         : at::scatter(self, dim, index, value));
  };
}

Plan InplaceScatterValue(Out self, int64_t dim, Tensor index, Scalar value, int64_t mode) {
  return ScatterValue(self, dim, index, value, mode, self);
}

Plan ScatterAdd(Tensor self, int64_t dim, Tensor index, Tensor source, Out out) {
  CheckLike(out, at::meta::scatter_add(Bare(self), dim, Bare(index), Bare(source)));
  return [=]() mutable { Store(out, at::scatter_add(self, dim, index, source)); };
}

Plan ScatterReduce(Tensor self, int64_t dim, Tensor index, Tensor source, int64_t mode, bool includeSelf,
                   Out out) {
  constexpr std::array<std::string_view, 6> kReductions{"", "sum", "prod", "amax", "amin", "mean"};
  TORCH_CHECK_VALUE(mode >= 1 && mode <= 5, "scatter reduction ", mode, " is not implemented");
  const auto reduction = kReductions[mode];
  CheckLike(out,
            at::meta::scatter_reduce(Bare(self), dim, Bare(index), Bare(source), reduction, includeSelf));
  return [=]() mutable { Store(out, at::scatter_reduce(self, dim, index, source, reduction, includeSelf)); };
}

Plan InplaceScatterReduce(Out self, int64_t dim, Tensor index, Tensor source, int64_t mode,
                          bool includeSelf) {
  return ScatterReduce(self, dim, index, source, mode, includeSelf, self);
}

// The last dimension of `indices` holds positions in the first dimensions of `self`.
c10::List<std::optional<at::Tensor>> Positions(Tensor indices) {
  c10::List<std::optional<at::Tensor>> positions;
  for (const auto& position : indices.to(at::kLong).unbind(-1)) positions.push_back(position);
  return positions;
}

Plan ScatterNdUpdate(Out self, Tensor indices, Tensor updates) {
  TORCH_CHECK_VALUE(indices.dim() > 0 && indices.size(-1) <= self.dim(), "indices of shape ", indices.sizes(),
                    " do not address elements of a tensor of shape ", self.sizes());
  auto shape = indices.sizes().slice(0, indices.dim() - 1).vec();
  const auto rest = self.sizes().slice(indices.size(-1));
  shape.insert(shape.end(), rest.begin(), rest.end());
  CheckShape(updates, shape);
  return [=]() mutable { at::index_put_(self, Positions(indices), updates); };
}

}  // namespace
}  // namespace simulator::operators

ACLNN(Gather, Planning(Gather));
ACLNN(Scatter, Planning(Scatter));
ACLNN(InplaceScatter, Planning(InplaceScatter));
ACLNN(ScatterValue, Planning(ScatterValue));
ACLNN(InplaceScatterValue, Planning(InplaceScatterValue));
ACLNN(ScatterAdd, Planning(ScatterAdd));
ACLNN(ScatterReduce, Planning(ScatterReduce));
ACLNN(InplaceScatterReduce, Planning(InplaceScatterReduce));
ACLNN(ScatterNdUpdate, Planning(ScatterNdUpdate));
