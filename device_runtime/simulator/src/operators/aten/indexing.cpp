// Reading and writing at positions given by tensors.
#include <ATen/ops/index_add_meta_dispatch.h>
#include <ATen/ops/index_copy_meta_dispatch.h>

#include <algorithm>

#include "binding.h"
#include "checks.h"
#include "store.h"

namespace simulator::operators {
namespace {

void CheckPositions(Tensor index) {
  TORCH_CHECK_TYPE(index.scalar_type() == at::kLong || index.scalar_type() == at::kInt,
                   "the index has dtype ", index.scalar_type(), ", not int32 or int64");
}

bool IsEmptyVector(Tensor index) { return index.dim() == 1 && index.numel() == 0; }

// The indices have one common shape; torch_npu passes a tensor of shape [0] for a dimension that is not
// indexed. If all are like that, some index is really empty and no element is selected.
bool SelectNothing(Tensors indices) { return std::all_of(indices.begin(), indices.end(), IsEmptyVector); }

c10::List<std::optional<at::Tensor>> Indices(Tensors given) {
  c10::List<std::optional<at::Tensor>> indices;
  for (const auto& index : given) {
    indices.push_back(IsEmptyVector(index) ? std::nullopt : std::optional(index));
  }
  return indices;
}

bool IsMask(Tensor index) { return index.scalar_type() == at::kBool || index.scalar_type() == at::kByte; }

// The shape of what indices select. That of the indices replaces the dimensions that are indexed if these
// follow each other, and else comes first. How many elements a mask selects is not known yet.
std::optional<std::vector<int64_t>> SelectedShape(Tensor self, Tensors indices) {
  if (std::any_of(indices.begin(), indices.end(), IsMask)) return std::nullopt;
  const auto given = static_cast<int64_t>(indices.size());
  TORCH_CHECK_VALUE(given <= self.dim(), given, " indices for a tensor of shape ", self.sizes());
  std::vector<int64_t> selected, shape, indexed;
  for (int64_t dim = 0; dim < self.dim(); ++dim) {
    if (dim >= given || IsEmptyVector(indices[dim])) {
      shape.push_back(self.size(dim));
      continue;
    }
    CheckPositions(indices[dim]);
    selected = at::infer_size(selected, indices[dim].sizes());
    indexed.push_back(dim);
  }
  const auto count = static_cast<int64_t>(indexed.size());
  const auto place = count == 0 || indexed.back() - indexed.front() >= count ? 0 : indexed.front();
  shape.insert(shape.begin() + place, selected.begin(), selected.end());
  return shape;
}

Plan Index(Tensor self, Tensors indices, Out out) {
  if (SelectNothing(indices)) {
    TORCH_CHECK_VALUE(out.numel() == 0, "no element is selected for an output tensor of shape ", out.sizes());
    return [] {};
  }
  if (const auto shape = SelectedShape(self, indices)) CheckShape(out, *shape);
  return [=]() mutable { Store(out, at::index(self, Indices(indices))); };
}

Plan IndexPut(Out self, Tensors indices, Tensor values, bool accumulate, bool /*unsafe*/) {
  TORCH_CHECK_TYPE(self.scalar_type() == values.scalar_type(), "values of dtype ", values.scalar_type(),
                   " for a tensor of ", self.scalar_type());
  if (SelectNothing(indices)) return [] {};
  if (const auto shape = SelectedShape(self, indices)) {
    TORCH_CHECK_VALUE(at::infer_size(values.sizes(), *shape) == *shape, "values of shape ", values.sizes(),
                      " cannot be broadcast to ", *shape);
  }
  return [=]() mutable { at::_index_put_impl_(self, Indices(indices), values, accumulate); };
}

Plan IndexSelect(Tensor self, int64_t dim, Tensor index, Out out) {
  CheckPositions(index);
  auto shape = self.sizes().vec();
  if (!shape.empty()) shape[at::maybe_wrap_dim(dim, self.dim())] = index.numel();
  CheckShape(out, shape);
  return [=]() mutable { Store(out, at::index_select(self, dim, index)); };
}

Plan IndexAdd(Tensor self, int64_t dim, Tensor index, Tensor source, Scalar alpha, Out out) {
  CheckLike(out, at::meta::index_add(Bare(self), dim, Bare(index), Bare(source), alpha));
  return [=]() mutable { Store(out, at::index_add(self, dim, index, source, alpha)); };
}

Plan IndexCopy(Tensor self, int64_t dim, Tensor index, Tensor source, Out out) {
  CheckLike(out, at::meta::index_copy(Bare(self), dim, Bare(index), Bare(source)));
  return [=]() mutable { Store(out, at::index_copy(self, dim, index, source)); };
}

Plan Embedding(Tensor weight, Tensor indices, Out out) {
  CheckPositions(indices);
  TORCH_CHECK_VALUE(weight.dim() == 2, "the weight has shape ", weight.sizes(), ", which is no matrix");
  auto shape = indices.sizes().vec();
  shape.push_back(weight.size(1));
  CheckShape(out, shape);
  return [=]() mutable { Store(out, at::embedding(weight, indices)); };
}

at::Tensor FillAt(Tensor self, int64_t dim, Sizes index, Scalar value) {
  return at::index_fill(self, dim, at::tensor(index, self.options().dtype(at::kLong)), value);
}

}  // namespace
}  // namespace simulator::operators

ACLNN(Index, Planning(Index));
ACLNN(IndexPutImpl, Planning(IndexPut));
ACLNN(IndexSelect, Planning(IndexSelect));
ACLNN(IndexAdd, Planning(IndexAdd));
// `mode` chooses between implementations with one result.
ACLNN(IndexAddV2,
      Planning([](Tensor self, int64_t dim, Tensor index, Tensor source, Scalar alpha, int64_t /*mode*/,
                  Out out) { return IndexAdd(self, dim, index, source, alpha, out); }));
ACLNN(IndexCopy, Planning(IndexCopy));
ACLNN(InplaceIndexCopy, Planning([](Out self, int64_t dim, Tensor index, Tensor source) {
        return IndexCopy(self, dim, index, source, self);
      }));
ACLNN(IndexFill, [](Tensor self, int64_t dim, Tensor index, Scalar value, Out out) {
  Store(out, at::index_fill(self, dim, index.to(at::kLong), value));
});
ACLNN(InplaceIndexFill, [](Out self, int64_t dim, Tensor index, Scalar value) {
  Store(self, at::index_fill(self, dim, index.to(at::kLong), value));
});
ACLNN(IndexFillTensor, [](Tensor self, int64_t dim, Sizes index, Scalar value, Out out) {
  Store(out, FillAt(self, dim, index, value));
});
ACLNN(InplaceIndexFillTensor,
      [](Out self, int64_t dim, Sizes index, Scalar value) { Store(self, FillAt(self, dim, index, value)); });

// Mode 1 promises that few indices differ; the result is the same.
ACLNN(GatherV3, [](Tensor self, int64_t dim, Tensor index, int64_t batchDims, int64_t /*mode*/, Out out) {
  TORCH_CHECK_NOT_IMPLEMENTED(batchDims == 0, batchDims, " batch dimensions are not implemented");
  const auto picked = at::index_select(self, dim, index.flatten());
  auto shape = self.sizes().vec();
  const auto at = shape.erase(shape.begin() + at::maybe_wrap_dim(dim, self.dim()));
  shape.insert(at, index.sizes().begin(), index.sizes().end());
  Store(out, picked.reshape(shape));
});
ACLNN(Take, [](Tensor self, Tensor index, Out out) { Store(out, at::take(self, index)); });
ACLNN(InplacePut, [](Out self, Tensor index, Tensor source, bool accumulate) {
  Store(self, at::put(self, index, source, accumulate));
});

ACLNN(InplaceMaskedFillScalar, [](Out self, Tensor mask, Scalar value) { self.masked_fill_(mask, value); });
ACLNN(InplaceMaskedFillTensor, [](Out self, Tensor mask, Tensor value) { self.masked_fill_(mask, value); });
ACLNN(InplaceMaskedScatter, [](Out self, Tensor mask, Tensor source) { self.masked_scatter_(mask, source); });
ACLNN(MaskedSelect, [](Tensor self, Tensor mask, DynamicOut& out) {
  out.Assign(at::masked_select(self, mask.to(at::kBool)));
});
ACLNN(Nonzero, [](Tensor self, DynamicOut& out) { out.Assign(at::nonzero(self)); });
ACLNN(NonzeroV2, [](Tensor self, DynamicOut& out) {
  // One row a dimension: the transpose of ATen's result.
  out.Assign(at::nonzero(self).t().contiguous());
});

ACLNN(Embedding, Planning(Embedding));
ACLNN(EmbeddingDenseBackward, [](Tensor grad, Tensor indices, uint64_t numWeights, uint64_t paddingIdx,
                                 bool scaleGradByFreq, Out out) {
  Store(out, at::embedding_dense_backward(Widened(grad), indices, static_cast<int64_t>(numWeights),
                                          static_cast<int64_t>(paddingIdx), scaleGradByFreq));
});
ACLNN(EmbeddingRenorm, [](Out self, Tensor indices, double maxNorm, double normType) {
  at::embedding_renorm_(self, indices.to(at::kLong).contiguous(), maxNorm, normType);
});
ACLNN(EmbeddingBag, [](Tensor weight, Tensor indices, Tensor offsets, bool scaleGradByFreq, int64_t mode,
                       bool sparse, OptionalTensor perSampleWeights, bool includeLastOffset,
                       int64_t paddingIdx, Out output, Out offset2bag, Out bagSize, Out maxIndices) {
  const auto [sums, bags, sizes, largest] =
      at::_embedding_bag(weight, indices, offsets, scaleGradByFreq, mode, sparse, perSampleWeights,
                         includeLastOffset, paddingIdx);
  Store(output, sums);
  // What only the gradient reads has another shape on the device; it is written where the shapes agree.
  if (offset2bag.sizes() == bags.sizes()) Store(offset2bag, bags);
  if (bagSize.sizes() == sizes.sizes()) Store(bagSize, sizes);
  if (maxIndices.sizes() == largest.sizes()) Store(maxIndices, largest);
});
ACLNN(OneHot, [](Tensor self, int classes, Tensor on, Tensor off, int64_t axis, Out out) {
  TORCH_CHECK_VALUE(axis == -1 || axis == self.dim(), "only a new last axis is implemented, not ", axis);
  const auto hot = self.unsqueeze(-1) == at::arange(classes, self.options());
  Store(out, at::where(hot, on, off));
});

ACLNN(SearchSorted, [](Tensor sorted, Tensor self, bool int32, bool right, OptionalTensor sorter, Out out) {
  Store(out, at::searchsorted(sorted, self, int32, right, std::nullopt, sorter));
});
ACLNN(SearchSorteds, [](Tensor sorted, Scalar self, bool int32, bool right, OptionalTensor sorter, Out out) {
  Store(out, at::searchsorted(sorted, self, int32, right, std::nullopt, sorter));
});
ACLNN(Bucketize, [](Tensor self, Tensor boundaries, bool int32, bool right, Out out) {
  Store(out, at::bucketize(self, boundaries, int32, right));
});
ACLNN(IsInTensorScalar, [](Tensor element, Scalar test, bool assumeUnique, bool invert, Out out) {
  Store(out, at::isin(element, test, assumeUnique, invert));
});
ACLNN(IsInScalarTensor, [](Scalar element, Tensor tests, bool assumeUnique, bool invert, Out out) {
  Store(out, at::isin(element, tests, assumeUnique, invert));
});
