// Interpolation to another size, and its gradient.
#include <ATen/native/UpSample.h>

#include "binding.h"
#include "checks.h"
#include "store.h"

namespace simulator::operators {
namespace {

// A scale that is not positive was not given: the ratio of the sizes counts.
std::optional<double> Given(double scale) { return scale > 0 ? std::optional(scale) : std::nullopt; }

using Scale = std::optional<double>;

// Checks the sizes of an input [images, channels, one to three sizes] and of what it becomes.
void CheckResized(at::IntArrayRef inputSize, at::IntArrayRef outputSize, Tensor output) {
  TORCH_CHECK_VALUE(inputSize.size() == outputSize.size() + 2, "a size of ", outputSize, " for an input of ",
                    inputSize);
  using at::native::upsample_1d_common_check, at::native::upsample_2d_common_check,
      at::native::upsample_3d_common_check;
  if (outputSize.size() == 1) CheckShape(output, upsample_1d_common_check(inputSize, outputSize));
  if (outputSize.size() == 2) CheckShape(output, upsample_2d_common_check(inputSize, outputSize));
  if (outputSize.size() == 3) CheckShape(output, upsample_3d_common_check(inputSize, outputSize));
}

template <typename... Options>
void CheckForward(Tensor self, Sizes outputSize, Options... options) {
  CheckResized(self.sizes(), outputSize, std::get<sizeof...(options) - 1>(std::tie(options...)));
}

template <typename... Options>
void CheckBackward(Tensor grad, Sizes outputSize, Sizes inputSize, Options... options) {
  CheckResized(inputSize, outputSize, grad);
  CheckShape(std::get<sizeof...(options) - 1>(std::tie(options...)), inputSize);
}

// An operator that makes an input larger or smaller. Its output is the last parameter.
template <typename... Options>
constexpr Implementation<Tensor, Sizes, Options...> ResizingBy(void (*compute)(Tensor, Sizes, Options...)) {
  return {&CheckForward<Options...>, compute};
}

// Its gradient.
template <typename... Options>
constexpr Implementation<Tensor, Sizes, Sizes, Options...> ResizingBy(void (*compute)(Tensor, Sizes, Sizes,
                                                                                      Options...)) {
  return {&CheckBackward<Options...>, compute};
}

template <typename Compute>
constexpr auto Resizing(Compute compute) {
  return ResizingBy(+compute);
}

using Linear2d = at::Tensor (*)(const at::Tensor&, at::IntArrayRef, bool, Scale, Scale);
using Linear2dBackward = at::Tensor (*)(const at::Tensor&, at::IntArrayRef, at::IntArrayRef, bool, Scale,
                                        Scale);
using Nearest1d = at::Tensor (*)(const at::Tensor&, at::IntArrayRef, Scale);
using Nearest1dBackward = at::Tensor (*)(const at::Tensor&, at::IntArrayRef, at::IntArrayRef, Scale);
using Nearest2d = at::Tensor (*)(const at::Tensor&, at::IntArrayRef, Scale, Scale);
using Nearest2dBackward = at::Tensor (*)(const at::Tensor&, at::IntArrayRef, at::IntArrayRef, Scale, Scale);
using Nearest3d = at::Tensor (*)(const at::Tensor&, at::IntArrayRef, Scale, Scale, Scale);
using Nearest3dBackward = at::Tensor (*)(const at::Tensor&, at::IntArrayRef, at::IntArrayRef, Scale, Scale,
                                         Scale);

template <Linear2d kKernel>
void Smooth(Tensor self, Sizes outputSize, bool alignCorners, double scaleH, double scaleW, Out out) {
  Store(out, kKernel(self, outputSize, alignCorners, Given(scaleH), Given(scaleW)));
}

template <Linear2dBackward kKernel>
void SmoothBackward(Tensor grad, Sizes outputSize, Sizes inputSize, bool alignCorners, double scaleH,
                    double scaleW, Out out) {
  Store(out, kKernel(grad, outputSize, inputSize, alignCorners, Given(scaleH), Given(scaleW)));
}

template <Nearest1d kKernel, typename Number>
void Near1d(Tensor self, Sizes outputSize, Number scale, Out out) {
  Store(out, kKernel(self, outputSize, Given(scale)));
}

template <Nearest1dBackward kKernel>
void Near1dBackward(Tensor grad, Sizes outputSize, Sizes inputSize, double scale, Out out) {
  Store(out, kKernel(grad, outputSize, inputSize, Given(scale)));
}

template <Nearest2d kKernel, typename Number>
void Near2d(Tensor self, Sizes outputSize, Number scaleH, Number scaleW, Out out) {
  Store(out, kKernel(self, outputSize, Given(scaleH), Given(scaleW)));
}

template <Nearest2dBackward kKernel>
void Near2dBackward(Tensor grad, Sizes outputSize, Sizes inputSize, double scaleH, double scaleW, Out out) {
  Store(out, kKernel(grad, outputSize, inputSize, Given(scaleH), Given(scaleW)));
}

template <Nearest3d kKernel>
void Near3d(Tensor self, Sizes outputSize, double scaleD, double scaleH, double scaleW, Out out) {
  Store(out, kKernel(self, outputSize, Given(scaleD), Given(scaleH), Given(scaleW)));
}

template <Nearest3dBackward kKernel>
void Near3dBackward(Tensor grad, Sizes outputSize, Sizes inputSize, double scaleD, double scaleH,
                    double scaleW, Out out) {
  Store(out, kKernel(grad, outputSize, inputSize, Given(scaleD), Given(scaleH), Given(scaleW)));
}

}  // namespace
}  // namespace simulator::operators

ACLNN(UpsampleBilinear2d, Resizing(Smooth<at::upsample_bilinear2d>));
ACLNN(UpsampleBilinear2dBackward, Resizing(SmoothBackward<at::upsample_bilinear2d_backward>));
ACLNN(UpsampleBilinear2dBackwardV2, Resizing(SmoothBackward<at::upsample_bilinear2d_backward>));
ACLNN(UpsampleBilinear2dAA, Resizing(Smooth<at::_upsample_bilinear2d_aa>));
ACLNN(UpsampleBilinear2dAABackward, Resizing(SmoothBackward<at::_upsample_bilinear2d_aa_backward>));
ACLNN(UpsampleBicubic2d, Resizing(Smooth<at::upsample_bicubic2d>));
ACLNN(UpsampleBicubic2dBackward, Resizing(SmoothBackward<at::upsample_bicubic2d_backward>));
ACLNN(UpsampleBicubic2dAA, Resizing(Smooth<at::_upsample_bicubic2d_aa>));
ACLNN(UpsampleBicubic2dAAGrad, Resizing(SmoothBackward<at::_upsample_bicubic2d_aa_backward>));

ACLNN(UpsampleLinear1d, Resizing([](Tensor self, Sizes outputSize, bool alignCorners, double scale, Out out) {
        Store(out, at::upsample_linear1d(self, outputSize, alignCorners, Given(scale)));
      }));
ACLNN(UpsampleLinear1dBackward,
      Resizing([](Tensor grad, Sizes outputSize, Sizes inputSize, bool alignCorners, double scale, Out out) {
        Store(out, at::upsample_linear1d_backward(grad, outputSize, inputSize, alignCorners, Given(scale)));
      }));
ACLNN(UpsampleTrilinear3d, Resizing([](Tensor self, Sizes outputSize, bool alignCorners, double scaleD,
                                       double scaleH, double scaleW, Out out) {
        Store(out, at::upsample_trilinear3d(self, outputSize, alignCorners, Given(scaleD), Given(scaleH),
                                            Given(scaleW)));
      }));
ACLNN(UpsampleTrilinear3dBackward,
      Resizing([](Tensor grad, Sizes outputSize, Sizes inputSize, bool alignCorners, double scaleD,
                  double scaleH, double scaleW, Out out) {
        Store(out, at::upsample_trilinear3d_backward(grad, outputSize, inputSize, alignCorners, Given(scaleD),
                                                     Given(scaleH), Given(scaleW)));
      }));

ACLNN(UpsampleNearest1d, Resizing([](Tensor self, Sizes outputSize, Out out) {
        Store(out, at::upsample_nearest1d(self, outputSize, Given(0)));
      }));
ACLNN(UpsampleNearest1dV2, Resizing(Near1d<at::upsample_nearest1d, float>));
ACLNN(UpsampleNearest1dBackward, Resizing(Near1dBackward<at::upsample_nearest1d_backward>));
ACLNN(UpsampleNearestExact1d, Resizing(Near1d<at::_upsample_nearest_exact1d, double>));
ACLNN(UpsampleNearestExact1dBackward, Resizing(Near1dBackward<at::_upsample_nearest_exact1d_backward>));
ACLNN(UpsampleNearest2d, Resizing([](Tensor self, Sizes outputSize, Out out) {
        Store(out, at::upsample_nearest2d(self, outputSize, Given(0), Given(0)));
      }));
ACLNN(UpsampleNearest2dV2, Resizing(Near2d<at::upsample_nearest2d, float>));
ACLNN(UpsampleNearest2dBackward, Resizing(Near2dBackward<at::upsample_nearest2d_backward>));
ACLNN(UpsampleNearestExact2d, Resizing(Near2d<at::_upsample_nearest_exact2d, double>));
ACLNN(UpsampleNearestExact2dBackward, Resizing(Near2dBackward<at::_upsample_nearest_exact2d_backward>));
ACLNN(UpsampleNearest3d, Resizing(Near3d<at::upsample_nearest3d>));
ACLNN(UpsampleNearest3dBackward, Resizing(Near3dBackward<at::upsample_nearest3d_backward>));
ACLNN(UpsampleNearestExact3d, Resizing(Near3d<at::_upsample_nearest_exact3d>));
ACLNN(UpsampleNearestExact3dBackward, Resizing(Near3dBackward<at::_upsample_nearest_exact3d_backward>));
