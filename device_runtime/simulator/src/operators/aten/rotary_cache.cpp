// Rotary position embedding with cosines and sines looked up by position.
#include "binding.h"
#include "checks.h"
#include "rotary.h"

namespace simulator::operators {
namespace {

// How the sections of several position axes are put together, as torch_npu numbers it.
enum class Sections : int64_t { kInOrder = 0, kInterleaved = 1 };

// One row of angles a token out of one row a token and position axis: of axis i the columns of its section.
at::Tensor InOrder(Tensor angles, const std::vector<int64_t>& sections) {
  std::vector<at::Tensor> parts;
  int64_t start = 0;
  for (size_t axis = 0; axis < sections.size(); start += sections[axis++]) {
    parts.push_back(angles[axis].narrow(-1, start, sections[axis]));
  }
  return at::cat(parts, -1);
}

// Column c belongs to axis c modulo 3 as long as the section of axis 1 reaches, then to axis 0.
at::Tensor InTurns(Tensor angles, const std::vector<int64_t>& sections) {
  auto result = angles[0].clone();
  const auto end = std::min(sections[1] * 3, result.size(-1));
  for (int64_t axis = 1; axis < 3; ++axis)
    result.slice(-1, axis, end, 3).copy_(angles[axis].slice(-1, axis, end, 3));
  return result;
}

at::Tensor AnglesOf(Tensor positions, Tensor cache, const std::vector<int64_t>& sections, Sections order) {
  const auto angles = Widened(cache).index({positions.to(at::kLong)});
  if (positions.dim() == 1) return angles;
  const auto halves = angles.chunk(2, -1);
  const auto join = order == Sections::kInOrder ? InOrder : InTurns;
  return at::cat({join(halves[0], sections), join(halves[1], sections)}, -1);
}

// `angles` holds the cosines, then the sines, one of each a pair.
at::Tensor EmbeddedHeads(Tensor tokens, Tensor angles, int64_t headSize, bool halves) {
  const auto heads = Widened(tokens).reshape({angles.size(0), -1, headSize});
  const auto rotaryDim = angles.size(-1);
  const auto mode = halves ? Rotary::kHalf : Rotary::kInterleave;
  const auto spread = [&](Tensor half) {
    const auto row = half.unsqueeze(-2);
    return halves ? at::cat({row, row}, -1) : row.repeat_interleave(2, -1);
  };
  const auto cosines = angles.narrow(-1, 0, rotaryDim / 2);
  const auto sines = angles.narrow(-1, rotaryDim / 2, rotaryDim / 2);
  const auto rotated = Embedded(heads.narrow(-1, 0, rotaryDim), spread(cosines), spread(sines), mode);
  return at::cat({rotated, heads.narrow(-1, rotaryDim, headSize - rotaryDim)}, -1).reshape(tokens.sizes());
}

Plan EmbedFromCache(Tensor positions, Tensor query, Tensor key, Tensor cache, Sizes sections,
                    int64_t headSize, bool halves, int64_t orderNumber, Out queryOut, Out keyOut) {
  TORCH_CHECK_VALUE(
      positions.dim() == 1 || (positions.dim() == 2 && positions.size(0) == 3 && sections.size() == 3),
      "positions of shape ", positions.sizes(), " with ", sections.size(), " sections are not implemented");
  TORCH_CHECK_VALUE(orderNumber == 0 || orderNumber == 1, "the cache mode ", orderNumber, " is not known");
  TORCH_CHECK_VALUE(cache.dim() == 2 && cache.size(1) % 2 == 0 && cache.size(1) <= headSize,
                    "a cache of shape ", cache.sizes(), " does not fit heads of ", headSize);
  CheckSameShape(query, queryOut);
  CheckSameShape(key, keyOut);
  return [=]() mutable {
    const auto angles = AnglesOf(positions, cache, sections, static_cast<Sections>(orderNumber));
    Store(queryOut, EmbeddedHeads(query, angles, headSize, halves));
    Store(keyOut, EmbeddedHeads(key, angles, headSize, halves));
  };
}

}  // namespace
}  // namespace simulator::operators

ACLNN(RopeWithSinCosCache,
      Planning([](Tensor positions, Tensor query, Tensor key, Tensor cache, Sizes sections, int64_t headSize,
                  bool halves, Out queryOut, Out keyOut) {
        return EmbedFromCache(positions, query, key, cache, sections, headSize, halves, 0, queryOut, keyOut);
      }));
// No public header declares the second version: its parameters are those that torch_npu passes.
ACLNN(RopeWithSinCosCacheV2, Planning(EmbedFromCache));
