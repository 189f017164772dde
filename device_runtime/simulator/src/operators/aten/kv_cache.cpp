// Writing new keys and values into caches, and reading them back.
#include "kv_cache.h"

#include "binding.h"
#include "checks.h"
#include "dtypes.h"
#include "quantize.h"
#include "store.h"

namespace simulator::operators {
namespace {

// Writes `updates` into each batch of `data`, from the index of the batch on along `axis`. An index of two
// numbers names the batch first.
void UpdateBatches(Tensor data, Tensor indices, Tensor updates, int64_t axis) {
  const auto along = at::maybe_wrap_dim(axis, data.dim());
  const auto length = updates.size(along);
  for (int64_t i = 0; i < updates.size(0); ++i) {
    const auto index = indices[i];
    const auto batch = indices.dim() == 2 ? index[0].item<int64_t>() : i;
    const auto start = (indices.dim() == 2 ? index[1] : index).item<int64_t>();
    TORCH_CHECK_INDEX(start >= 0 && start + length <= data.size(along), "an update from ", start, " to ",
                      start + length, " does not fit a dimension of ", data.size(along));
    data.select(0, batch).narrow(along - 1, start, length).copy_(updates[i]);
  }
}

void CheckUpdates(Tensor data, Tensor indices, Tensor updates, int64_t axis) {
  TORCH_CHECK_VALUE(
      data.dim() == updates.dim() && data.dim() >= 2 && at::maybe_wrap_dim(axis, data.dim()) > 0,
      "updates of shape ", updates.sizes(), " along dimension ", axis, " of data of shape ", data.sizes());
  TORCH_CHECK_VALUE(indices.size(0) == updates.size(0) &&
                        (indices.dim() == 1 || (indices.dim() == 2 && indices.size(1) == 2)),
                    "indices of shape ", indices.sizes(), " do not fit updates of shape ", updates.sizes());
  CheckIndex("indices", indices);
}

Plan ScatterUpdate(Out data, Tensor indices, Tensor updates, int64_t axis) {
  CheckSameDtype("updates", updates, data);
  CheckUpdates(data, indices, updates, axis);
  return [=] { UpdateBatches(data, indices, updates, axis); };
}

Plan QuantScatter(Out data, Tensor indices, Tensor updates, Tensor scales, OptionalTensor zeroPoints,
                  int64_t axis, int64_t quantAxis, int64_t reduction, Text mode) {
  CheckUpdates(data, indices, updates, axis);
  TORCH_CHECK_VALUE(reduction == 1, "the reduction ", reduction, " is not implemented");
  RangeOf(data.scalar_type());
  return [=] {
    const auto along = [&](Tensor parameter) {
      std::vector<int64_t> shape(updates.dim(), 1);
      shape[at::maybe_wrap_dim(quantAxis, updates.dim())] = -1;
      return Widened(parameter).reshape(shape);
    };
    auto values = Widened(updates) / along(scales);
    if (zeroPoints) values = values + along(*zeroPoints);
    auto quantised = at::empty(updates.sizes(), data.options());
    StoreQuantised(quantised, values, mode);
    UpdateBatches(data, indices, quantised, axis);
  };
}

// One variable a batch; a mask leaves variables out.
Plan ScatterLists(Tensors variables, Tensor indices, Tensor updates, OptionalTensor mask, Text reduce,
                  int64_t axis) {
  TORCH_CHECK_VALUE(reduce.empty() || reduce == "update", "the reduction ", reduce, " is not implemented");
  TORCH_CHECK_VALUE(!variables.empty() && static_cast<int64_t>(variables.size()) == updates.size(0),
                    variables.size(), " variables do not fit updates of shape ", updates.sizes());
  return [=] {
    for (size_t i = 0; i < variables.size(); ++i) {
      const auto batch = static_cast<int64_t>(i);
      if (mask && mask->flatten()[batch].item<int64_t>() == 0) continue;
      const auto index = indices[batch];
      const auto start = (index.dim() == 0 ? index : index[0]).item<int64_t>();
      const auto own = updates[batch];
      const auto along = at::maybe_wrap_dim(axis, own.dim());
      TORCH_CHECK_INDEX(start >= 0 && start + own.size(along) <= variables[i].size(along), "an update at ",
                        start, " does not fit a variable of shape ", variables[i].sizes());
      variables[i].narrow(along, start, own.size(along)).copy_(own);
    }
  };
}

bool InPieces(const std::string& mode) {
  TORCH_CHECK_VALUE(mode.empty() || mode == "Norm" || mode == "PA_NZ", "the cache mode ", mode,
                    " is not implemented");
  return mode == "PA_NZ";
}

// What the operators on paged caches cannot do.
void CheckUncompressed(OptionalTensor lengths, OptionalTensor offsets, OptionalTensor sequences) {
  TORCH_CHECK_VALUE(!lengths && !offsets && !sequences, "a compressed cache is not implemented");
}

Plan ScatterPaged(Tensor key, Out keyCache, Tensor slots, OptionalTensor value, OptionalOut valueCache,
                  const std::string& mode) {
  const bool inPieces = InPieces(mode);
  TORCH_CHECK_VALUE(key.dim() == 3 && keyCache.dim() == 4 && slots.numel() == key.size(0), "keys of shape ",
                    key.sizes(), ", a cache of shape ", keyCache.sizes(), " and slots of shape ",
                    slots.sizes());
  CheckIndex("slots", slots);
  CheckSameDtype("keys", key, keyCache);
  TORCH_CHECK_VALUE(key.numel() == 0 ||
                        keyCache.numel() / keyCache.size(0) / BlockRows(keyCache, inPieces) == key[0].numel(),
                    "a cache of shape ", keyCache.sizes(), " does not hold keys of shape ", key.sizes());
  return [=] {
    WriteTokens(keyCache, key.flatten(1), slots, inPieces);
    if (value && valueCache) WriteTokens(*valueCache, value->flatten(1), slots, inPieces);
  };
}

Plan GatherPaged(Tensor keyCache, Tensor valueCache, Tensor blockTables, Tensor lengths, Out key, Out value,
                 OptionalTensor offsets, Text mode, bool ends) {
  const bool inPieces = InPieces(mode);
  TORCH_CHECK_VALUE(!offsets, "an offset into the sequences is not implemented");
  TORCH_CHECK_VALUE(keyCache.dim() == 4 && valueCache.dim() == 4 && blockTables.dim() == 2,
                    "caches of shapes ", keyCache.sizes(), " and ", valueCache.sizes(),
                    " with block tables of shape ", blockTables.sizes());
  CheckIndex("block tables", blockTables);
  CheckIndex("lengths", lengths);
  return [=] {
    const auto slots = SlotsOfSequences(blockTables, lengths, ends, BlockRows(keyCache, inPieces));
    const auto count = slots.numel();
    key.narrow(0, 0, count).copy_(ReadTokens(keyCache, slots, inPieces).view_as(key.narrow(0, 0, count)));
    value.narrow(0, 0, count)
        .copy_(ReadTokens(valueCache, slots, inPieces).view_as(value.narrow(0, 0, count)));
  };
}

}  // namespace

int64_t BlockRows(Tensor cache, bool inPieces) { return inPieces ? cache.size(2) : cache.size(1); }

at::Tensor TokensOfCache(Tensor cache, bool inPieces) {
  return inPieces ? cache.transpose(1, 2) : cache.flatten(2);
}

void WriteTokens(Tensor cache, Tensor tokens, Tensor slots, bool inPieces) {
  const auto flat = slots.flatten().to(at::kLong);
  const auto rows = BlockRows(cache, inPieces);
  TORCH_CHECK_INDEX(flat.numel() == 0 || flat.max().item<int64_t>() < cache.size(0) * rows,
                    "a slot lies beyond the cache");
  const auto blocks = TokensOfCache(cache, inPieces);
  for (int64_t token = 0; token < flat.numel(); ++token) {
    const auto slot = flat[token].item<int64_t>();
    if (slot < 0) continue;
    const auto place = blocks[slot / rows][slot % rows];
    place.copy_(tokens[token].view(place.sizes()));
  }
}

at::Tensor ReadTokens(Tensor cache, Tensor slots, bool inPieces) {
  const auto rows = BlockRows(cache, inPieces);
  const auto block = slots.floor_divide(rows), row = slots.remainder(rows);
  return TokensOfCache(cache, inPieces).index({block, row}).flatten(1);
}

at::Tensor SlotsOfSequences(Tensor blockTables, Tensor lengths, bool ends, int64_t blockRows) {
  std::vector<at::Tensor> slots;
  const auto numbers = lengths.to(at::kLong);
  const auto tables = blockTables.to(at::kLong);
  for (int64_t i = 0; i < tables.size(0); ++i) {
    const auto first = ends && i > 0 ? numbers[i - 1].item<int64_t>() : 0;
    const auto length = numbers[i].item<int64_t>() - first;
    const auto used = tables[i].narrow(0, 0, (length + blockRows - 1) / blockRows);
    const auto all = used.unsqueeze(1) * blockRows + at::arange(blockRows);
    slots.push_back(all.flatten().narrow(0, 0, length));
  }
  return at::cat(slots);
}

}  // namespace simulator::operators

ACLNN(InplaceScatterUpdate, Planning(ScatterUpdate));
ACLNN(InplaceQuantScatter,
      Planning([](Out data, Tensor indices, Tensor updates, Tensor scales, OptionalTensor zeroPoints,
                  int64_t axis, int64_t quantAxis, int64_t reduction) {
        return QuantScatter(data, indices, updates, scales, zeroPoints, axis, quantAxis, reduction, "rint");
      }));
ACLNN(InplaceQuantScatterV2, Planning(QuantScatter));
ACLNN(ScatterList, Planning(ScatterLists));
// No public header declares the operators on paged caches: their parameters are those that torch_npu passes.
ACLNN(ScatterPaKvCache, Planning([](Tensor key, Out keyCache, Tensor slots, Tensor value, Out valueCache,
                                    OptionalTensor compressLengths, OptionalTensor compressOffsets,
                                    OptionalTensor sequenceLengths, Text mode, Text /*scatterMode*/,
                                    Sizes /*strides*/, Sizes /*offsets*/) {
        CheckUncompressed(compressLengths, compressOffsets, sequenceLengths);
        std::optional<at::Tensor> cache = valueCache;
        return ScatterPaged(key, keyCache, slots, value, cache, mode);
      }));
ACLNN(ScatterPaCache, Planning([](Tensor key, Out keyCache, Tensor slots, OptionalTensor compressLengths,
                                  OptionalTensor compressOffsets, OptionalTensor sequenceLengths, Text mode) {
        CheckUncompressed(compressLengths, compressOffsets, sequenceLengths);
        std::optional<at::Tensor> none;
        return ScatterPaged(key, keyCache, slots, none, none, mode);
      }));
ACLNN(GatherPaKvCache, Planning(GatherPaged));
