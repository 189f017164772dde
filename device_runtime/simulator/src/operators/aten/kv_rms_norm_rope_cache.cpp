// Multi-head latent attention: normalises and embeds the compressed keys and values, and writes them into
// caches.
#include "binding.h"
#include "checks.h"
#include "kv_cache.h"
#include "quantize.h"
#include "rms.h"
#include "rotary.h"

namespace simulator::operators {
namespace {

// How the index addresses a cache.
struct CacheAddressing {
  bool paged;    // the rows of all blocks are counted on; otherwise those of each batch
  bool byBlock;  // the index has a number a block, not a number a token
  bool inPieces;
};

CacheAddressing AddressingNamed(const std::string& mode) {
  if (mode == "Norm") return {false, false, false};
  if (mode == "PA" || mode == "PA_BNSD") return {true, false, false};
  if (mode == "PA_NZ") return {true, false, true};
  if (mode == "PA_BLK_BNSD") return {true, true, false};
  TORCH_CHECK_VALUE(mode == "PA_BLK_NZ", "the cache mode ", mode, " is not known");
  return {true, true, true};
}

// The slot of each token, batch by batch.
at::Tensor SlotsOfTokens(Tensor index, const CacheAddressing& addressing, int64_t batches, int64_t tokens,
                         int64_t rows) {
  const auto numbers = index.flatten().to(at::kLong);
  const auto batch = at::arange(batches).repeat_interleave(tokens);
  const auto token = at::arange(tokens).repeat(batches);
  if (!addressing.paged) return at::where(numbers < 0, numbers, numbers + batch * rows);
  if (!addressing.byBlock) return numbers;
  const auto blocksOfBatch = numbers.numel() / batches;
  const auto starts = numbers.index_select(0, batch * blocksOfBatch + token.floor_divide(rows));
  return at::where(starts < 0, starts, starts.floor_divide(rows) * rows + token.remainder(rows));
}

struct CacheQuantisation {
  std::optional<at::Tensor> scale, offset;
};

void WriteCache(Tensor cache, Tensor values, Tensor slots, const CacheAddressing& addressing,
                const CacheQuantisation& quantisation) {
  auto tokens = values.flatten(0, -2);
  if (quantisation.scale) {
    auto scaled = tokens * Widened(*quantisation.scale).flatten();
    if (quantisation.offset) scaled = scaled + Widened(*quantisation.offset).flatten();
    tokens = at::empty(scaled.sizes(), cache.options());
    StoreQuantised(tokens, scaled);
  }
  if (!addressing.inPieces) return WriteTokens(cache.flatten(2).unsqueeze(2), tokens, slots, false);
  const int64_t piece = c10::elementSize(cache.scalar_type()) == 1 ? 32 : 16;
  const auto blocks = cache.view({cache.size(0), cache.size(-1) / piece, cache.size(1), piece});
  WriteTokens(blocks, tokens, slots, true);
}

struct LatentInputs {
  at::Tensor kv, gamma, cos, sin, index, keyCache, valueCache;
  CacheQuantisation keyQuantisation, valueQuantisation;
  std::optional<at::Tensor> value;
  double epsilon;
};

struct LatentResults {
  at::Tensor key, value;
};

// The first features are normalised, the last ones embedded. With values of their own all features are keys:
// all are normalised, and the first of them embedded.
LatentResults Latent(const LatentInputs& inputs) {
  const auto embedded = inputs.cos.size(-1);
  if (!inputs.value) {
    const auto normalised = inputs.gamma.numel();
    const auto kv = Widened(inputs.kv);
    const auto rope = kv.narrow(-1, normalised, embedded);
    return {Embedded(rope, inputs.cos, inputs.sin, Rotary::kInterleaveHalf),
            RmsNormalize(kv.narrow(-1, 0, normalised), inputs.gamma, inputs.epsilon).result};
  }
  const auto normalised = RmsNormalize(inputs.kv, inputs.gamma, inputs.epsilon).result;
  const auto rope =
      Embedded(normalised.narrow(-1, 0, embedded), inputs.cos, inputs.sin, Rotary::kInterleaveHalf);
  const auto rest = normalised.narrow(-1, embedded, normalised.size(-1) - embedded);
  return {at::cat({rope, rest}, -1), Widened(*inputs.value)};
}

Plan LatentCache(LatentInputs inputs, Text mode, bool wantsValues, OptionalOut keyOut, OptionalOut valueOut) {
  const auto addressing = AddressingNamed(mode);
  TORCH_CHECK_VALUE(inputs.kv.dim() == 4 && inputs.kv.size(1) == 1, "an input of shape ", inputs.kv.sizes(),
                    " does not have one head");
  TORCH_CHECK_VALUE(inputs.value || inputs.gamma.numel() + inputs.cos.size(-1) == inputs.kv.size(-1),
                    inputs.kv.size(-1), " features do not divide into ", inputs.gamma.numel(), " and ",
                    inputs.cos.size(-1));
  TORCH_CHECK_VALUE(inputs.keyCache.dim() == 4 && inputs.valueCache.dim() == 4, "caches of shapes ",
                    inputs.keyCache.sizes(), " and ", inputs.valueCache.sizes());
  return [=] {
    const auto results = Latent(inputs);
    // The rows of a batch, or of a block.
    const auto rows = addressing.paged ? inputs.keyCache.size(1) : inputs.keyCache.size(2);
    const auto slots = SlotsOfTokens(inputs.index, addressing, inputs.kv.size(0), inputs.kv.size(2), rows);
    const auto cache = [&](Tensor tensor) { return addressing.paged ? tensor : tensor.transpose(1, 2); };
    WriteCache(cache(inputs.keyCache), results.key, slots, addressing, inputs.keyQuantisation);
    WriteCache(cache(inputs.valueCache), results.value, slots, addressing, inputs.valueQuantisation);
    if (!wantsValues) return;
    if (keyOut) keyOut->copy_(results.key);
    if (valueOut) valueOut->copy_(results.value);
  };
}

}  // namespace
}  // namespace simulator::operators

// No public header declares these: their parameters are those that torch_npu passes.
ACLNN(KvRmsNormRopeCache,
      Planning([](Tensor kv, Tensor gamma, Tensor cos, Tensor sin, Tensor index, Out keyCache, Out valueCache,
                  OptionalTensor keyScale, OptionalTensor valueScale, OptionalTensor keyOffset,
                  OptionalTensor valueOffset, double epsilon, Text mode, bool wantsValues, OptionalOut keyOut,
                  OptionalOut valueOut) {
        return LatentCache({kv,
                            gamma,
                            cos,
                            sin,
                            index,
                            keyCache,
                            valueCache,
                            {keyScale, keyOffset},
                            {valueScale, valueOffset},
                            {},
                            epsilon},
                           mode, wantsValues, keyOut, valueOut);
      }));
ACLNN(KvRmsNormRopeCacheV2,
      Planning([](Tensor kv, Tensor gamma, Tensor cos, Tensor sin, Tensor index, Out keyCache, Out valueCache,
                  OptionalTensor keyScale, OptionalTensor valueScale, OptionalTensor keyOffset,
                  OptionalTensor valueOffset, OptionalTensor value, double epsilon, Text mode,
                  bool wantsValues, OptionalOut keyOut, OptionalOut valueOut) {
        return LatentCache({kv,
                            gamma,
                            cos,
                            sin,
                            index,
                            keyCache,
                            valueCache,
                            {keyScale, keyOffset},
                            {valueScale, valueOffset},
                            value,
                            epsilon},
                           mode, wantsValues, keyOut, valueOut);
      }));
