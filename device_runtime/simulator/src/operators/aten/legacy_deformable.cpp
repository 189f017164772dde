// The samples that a deformable convolution multiplies with its weights, in the older aclop interface.
#include "legacy.h"
#include "store.h"

namespace simulator::operators {
namespace {

constexpr int64_t kBilinear = 0, kZeros = 0;

enum Dimension : size_t { kRows = 1, kColumns = 2 };

// What is sampled: each batch and group of channels is a batch of its own, each element of the kernel a pixel
// of its own.
class Sampling {
 public:
  // Tensors are laid out as batch, rows, columns, channels.
  Sampling(const LegacyCall& call, const at::Tensor& input, const at::Tensor& offsets)
      : groups_(call.Attribute<int64_t>("deformable_groups", 1)), offsets_(offsets.sizes().vec()) {
    const auto kernel = call.Attribute("ksize", std::vector<int64_t>{1, 1});
    kernelRows_ = kernel.at(0);
    kernelColumns_ = kernel.at(1);
    TORCH_CHECK_VALUE(groups_ > 0 && input.size(3) % groups_ == 0 &&
                          offsets.size(3) == 3 * groups_ * kernelRows_ * kernelColumns_,
                      "offsets of shape ", offsets.sizes(), " for ", groups_, " groups of an input of shape ",
                      input.sizes());
    TORCH_CHECK_NOT_IMPLEMENTED(call.Attribute("modulated", true),
                                "offsets without weights are not implemented");
    height_ = input.size(1);
    width_ = input.size(2);
    pixels = Grouped(input);
    const auto parts = offsets
                           .view({offsets.size(0), offsets.size(1), offsets.size(2), 3, groups_, kernelRows_,
                                  kernelColumns_})
                           .unbind(3);
    const auto x =
        ByPixel(parts[0]) + Regular(call, kColumns, offsets.size(2), kernelColumns_).view({1, 1, -1});
    const auto y = ByPixel(parts[1]) + Regular(call, kRows, offsets.size(1), kernelRows_).view({1, -1, 1});
    weights = ByPixel(parts[2]).unsqueeze(1);
    grid = at::stack({(x * 2 + 1) / width_ - 1, (y * 2 + 1) / height_ - 1}, -1);
  }

  at::Tensor Samples() const { return at::grid_sampler_2d(pixels, grid, kBilinear, kZeros, false); }

  // Channels of a group, and of all groups.
  at::Tensor Grouped(const at::Tensor& tensor) const {
    return tensor.permute({0, 3, 1, 2})
        .reshape({tensor.size(0) * groups_, -1, tensor.size(1), tensor.size(2)});
  }

  at::Tensor Ungrouped(const at::Tensor& tensor) const {
    return tensor.reshape({tensor.size(0) / groups_, -1, tensor.size(2), tensor.size(3)})
        .permute({0, 2, 3, 1});
  }

  // The gradient of the offsets, of the grid's and the weights' gradients.
  at::Tensor OffsetGradient(const at::Tensor& gradGrid, const at::Tensor& gradWeights) const {
    const auto across = gradGrid.select(-1, 0) * (2.0 / static_cast<double>(width_));
    const auto down = gradGrid.select(-1, 1) * (2.0 / static_cast<double>(height_));
    return at::stack({ByOffset(across), ByOffset(down), ByOffset(gradWeights)}, 3).view(offsets_);
  }

  at::Tensor pixels, weights, grid;

 private:
  // Where the samples would be without offsets. Attributes are laid out as the tensors, but the paddings:
  // top, bottom, left, right.
  static at::Tensor Regular(const LegacyCall& call, Dimension dim, int64_t results, int64_t kernel) {
    const auto strides = call.Attribute("strides", std::vector<int64_t>(4, 1));
    const auto dilations = call.Attribute("dilations", std::vector<int64_t>(4, 1));
    const auto pads = call.Attribute("pads", std::vector<int64_t>(4, 0));
    const auto starts = at::arange(results, at::kFloat) * strides.at(dim) - pads.at(dim == kRows ? 0 : 2);
    return (starts.unsqueeze(1) + at::arange(kernel, at::kFloat) * dilations.at(dim)).flatten();
  }

  // Batch, rows, columns, groups, kernel rows, kernel columns: one number a sample.
  at::Tensor ByPixel(const at::Tensor& part) const {
    return part.permute({0, 3, 1, 4, 2, 5})
        .reshape({part.size(0) * groups_, part.size(1) * kernelRows_, part.size(2) * kernelColumns_});
  }

  at::Tensor ByOffset(const at::Tensor& samples) const {
    return samples.reshape({-1, groups_, offsets_[1], kernelRows_, offsets_[2], kernelColumns_})
        .permute({0, 2, 4, 1, 3, 5});
  }

  int64_t groups_, kernelRows_ = 0, kernelColumns_ = 0, height_ = 0, width_ = 0;
  std::vector<int64_t> offsets_;
};

const LegacyOperator samples{"DeformableOffsets", [](const LegacyCall& call) {
                               const Sampling sampling(call, call.Input(0), call.Input(1));
                               call.Return(0, sampling.Ungrouped(sampling.Samples() * sampling.weights));
                             }};

const LegacyOperator gradient{
    "DeformableOffsetsGrad", [](const LegacyCall& call) {
      const Sampling sampling(call, call.Input(1), call.Input(2));
      const auto grad = sampling.Grouped(call.Input(0));
      const auto [gradPixels, gradGrid] = at::grid_sampler_2d_backward(
          grad * sampling.weights, sampling.pixels, sampling.grid, kBilinear, kZeros, false, {true, true});
      call.Return(0, sampling.Ungrouped(gradPixels));
      call.Return(1, sampling.OffsetGradient(gradGrid, (grad * sampling.Samples()).sum(1)));
    }};

}  // namespace
}  // namespace simulator::operators
