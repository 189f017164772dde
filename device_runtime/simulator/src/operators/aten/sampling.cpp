// Sampling from a grid of coordinates.
#include "binding.h"
#include "store.h"

namespace simulator::operators {
namespace {

using Sampler = at::Tensor (*)(const at::Tensor&, const at::Tensor&, int64_t, int64_t, bool);
using SamplerBackward = std::tuple<at::Tensor, at::Tensor> (*)(const at::Tensor&, const at::Tensor&,
                                                               const at::Tensor&, int64_t, int64_t, bool,
                                                               std::array<bool, 2>);

template <Sampler kKernel>
void Sample(Tensor input, Tensor grid, int64_t interpolation, int64_t padding, bool alignCorners, Out out) {
  Store(out, kKernel(input, grid, interpolation, padding, alignCorners));
}

template <SamplerBackward kKernel>
void SampleBackward(Tensor gradOutput, Tensor input, Tensor grid, int64_t interpolation, int64_t padding,
                    bool alignCorners, Flags outputMask, OptionalOut inputGrad, OptionalOut gridGrad) {
  TORCH_CHECK_VALUE(outputMask.size() == 2, "the output mask has ", outputMask.size(), " values, not 2");
  const std::array<bool, 2> wanted{outputMask[0] != 0, outputMask[1] != 0};
  const auto [forInput, forGrid] =
      kKernel(gradOutput, input, grid, interpolation, padding, alignCorners, wanted);
  if (wanted[0]) Store(inputGrad, forInput);
  if (wanted[1]) Store(gridGrad, forGrid);
}

}  // namespace
}  // namespace simulator::operators

ACLNN(GridSampler2D, Sample<at::grid_sampler_2d>);
ACLNN(GridSampler2DBackward, SampleBackward<at::grid_sampler_2d_backward>);
ACLNN(GridSampler3D, Sample<at::grid_sampler_3d>);
ACLNN(GridSampler3DBackward, SampleBackward<at::grid_sampler_3d_backward>);
ACLNN(AffineGrid, [](Tensor theta, Sizes size, bool alignCorners, Out out) {
  Store(out, at::affine_grid_generator(theta, size, alignCorners));
});
