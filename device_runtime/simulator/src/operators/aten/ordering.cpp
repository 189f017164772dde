// Sorting, selecting by rank, distinct values.
#include <ATen/ops/topk_meta_dispatch.h>

#include "binding.h"
#include "checks.h"
#include "store.h"

namespace simulator::operators {
namespace {

Plan Topk(Tensor self, int64_t k, int64_t dim, bool largest, bool sorted, Out values, Out indices) {
  CheckLike(values, std::get<0>(at::meta::topk(Bare(self), k, dim, largest, sorted)));
  CheckSameShape(values, indices);
  return [=]() mutable {
    const auto [best, positions] = at::topk(self, k, dim, largest, sorted);
    Store(values, best);
    Store(indices, positions);
  };
}

// torch_npu passes 1 for an argument whose meaning is not published; nothing else is known to mean the same.
Plan TopkV2(Tensor self, int64_t k, int64_t dim, bool largest, bool sorted, int64_t unpublished, Out values,
            Out indices) {
  TORCH_CHECK_VALUE(unpublished == 1, "the argument after `sorted` is ", unpublished,
                    "; only 1 is implemented");
  return Topk(self, k, dim, largest, sorted, values, indices);
}

}  // namespace
}  // namespace simulator::operators

ACLNN(Sort, Broadcasting([](Tensor self, bool stable, int64_t dim, bool descending, Out values, Out indices) {
        const auto [sorted, positions] = at::sort(self, stable, dim, descending);
        Store(values, sorted);
        Store(indices, positions);
      }));
ACLNN(Topk, Planning(Topk));
ACLNN(TopkV2, Planning(TopkV2));
ACLNN(Kthvalue, [](Tensor self, int64_t k, int64_t dim, bool keepDim, Out values, Out indices) {
  const auto [kth, positions] = at::kthvalue(self, k, dim, keepDim);
  Store(values, kth);
  Store(indices, positions);
});
ACLNN(Unique, [](Tensor self, bool sorted, bool returnInverse, DynamicOut& values, Out inverse) {
  const auto [distinct, positions] = at::_unique(self, sorted, returnInverse);
  values.Assign(distinct);
  if (returnInverse) Store(inverse, positions);
});
ACLNN(Unique2, [](Tensor self, bool sorted, bool returnInverse, bool returnCounts, DynamicOut& values,
                  Out inverse, DynamicOut& counts) {
  const auto [distinct, positions, numbers] = at::_unique2(self, sorted, returnInverse, returnCounts);
  values.Assign(distinct);
  if (returnInverse) Store(inverse, positions);
  if (returnCounts) counts.Assign(numbers);
});
ACLNN(UniqueDim, [](Tensor self, bool sorted, bool returnInverse, int64_t dim, DynamicOut& values,
                    Out inverse, DynamicOut& counts) {
  const auto [distinct, positions, numbers] = at::unique_dim(self, dim, sorted, returnInverse, true);
  values.Assign(distinct);
  if (returnInverse) Store(inverse, positions);
  counts.Assign(numbers);
});
ACLNN(UniqueConsecutive, [](Tensor self, bool returnInverse, bool returnCounts, int64_t dim,
                            DynamicOut& values, Out inverse, DynamicOut& counts) {
  constexpr int64_t kFlattened = 1000;
  const auto along = dim == kFlattened ? std::nullopt : std::optional(dim);
  const auto [distinct, positions, numbers] =
      at::unique_consecutive(self, returnInverse, returnCounts, along);
  values.Assign(distinct);
  if (returnInverse) Store(inverse, positions);
  if (returnCounts) counts.Assign(numbers);
});
