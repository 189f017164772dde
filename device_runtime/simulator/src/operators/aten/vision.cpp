// Boxes and regions of images.
#include "binding.h"
#include "store.h"

namespace simulator::operators {
namespace {

// The corners of boxes, each a tensor that broadcasts against those of the other set.
struct Corners {
  at::Tensor left, top, right, bottom;

  at::Tensor Area(double margin) const { return (right - left + margin) * (bottom - top + margin); }
};

Corners CornersOf(Tensor boxes, int64_t dim) {
  TORCH_CHECK_VALUE(boxes.size(dim) == 4, "boxes of shape ", boxes.sizes(), " do not have four coordinates");
  const auto parts = Widened(boxes).unbind(dim);
  return {parts[0], parts[1], parts[2], parts[3]};
}

at::Tensor Intersection(const Corners& a, const Corners& b, double margin) {
  const auto width = at::minimum(a.right, b.right) - at::maximum(a.left, b.left) + margin;
  const auto height = at::minimum(a.bottom, b.bottom) - at::maximum(a.top, b.top) + margin;
  return width.clamp_min(0) * height.clamp_min(0);
}

// Over the union of the areas, or over the foreground, which is the second set.
at::Tensor Overlap(const Corners& a, const Corners& b, Text mode, double margin) {
  TORCH_CHECK_VALUE(mode == "iou" || mode == "iof", "the mode ", mode, " is neither iou nor iof");
  const auto common = Intersection(a, b, margin);
  return common / (mode == "iou" ? a.Area(margin) + b.Area(margin) - common : b.Area(margin));
}

// How the points of one axis of a region are interpolated: [bins, size], each row the mean over the bin's
// samples. Interpolation in two dimensions is the product of those of both axes.
at::Tensor Weights(double start, double length, int64_t bins, int64_t samples, int64_t size) {
  const auto steps = at::arange(bins * samples, at::kDouble);
  auto points = start + (steps + 0.5) * (length / static_cast<double>(bins * samples));
  const auto outside = (points < -1).logical_or(points > size);
  points = points.clamp(0, size - 1);
  const auto low = points.floor(), fraction = points - low;
  const auto rows = at::zeros({bins * samples, size}, at::kDouble);
  rows.scatter_add_(1, low.to(at::kLong).unsqueeze(1), (1 - fraction).unsqueeze(1));
  rows.scatter_add_(1, (low + 1).clamp_max(size - 1).to(at::kLong).unsqueeze(1), fraction.unsqueeze(1));
  rows.masked_fill_(outside.unsqueeze(1), 0);
  return rows.view({bins, samples, size}).mean(1);
}

struct Region {
  int64_t image;
  at::Tensor rows, columns;  // the weights of both axes
};

struct Pooling {
  double scale;
  int64_t height, width, samples, endMode;
};

// `roi` holds the image's number and the corners. How the ends count is documented with RoiAlignGrad in
// ops-cv.
Region RegionOf(Tensor roi, const Pooling& pooling, at::IntArrayRef imageSizes) {
  TORCH_CHECK_VALUE(pooling.endMode >= 0 && pooling.endMode <= 3, "roi_end_mode ", pooling.endMode,
                    " is not 0 to 3");
  const auto values = roi.to(at::kDouble).contiguous();
  const auto* value = values.const_data_ptr<double>();
  const double shift = pooling.endMode >= 2 ? -0.5 : 0;
  const double longer = pooling.endMode == 1 ? pooling.scale : 0;
  const double least = pooling.endMode == 2 ? 0 : 1;
  const auto axis = [&](double first, double last, int64_t bins, int64_t size) {
    const double start = first * pooling.scale + shift;
    const double length = std::max(last * pooling.scale + shift + longer - start, least);
    const auto wanted = static_cast<int64_t>(std::ceil(length / static_cast<double>(bins)));
    return Weights(start, length, bins, pooling.samples > 0 ? pooling.samples : std::max<int64_t>(wanted, 1),
                   size);
  };
  return {static_cast<int64_t>(value[0]), axis(value[2], value[4], pooling.height, imageSizes[2]),
          axis(value[1], value[3], pooling.width, imageSizes[3])};
}

void CheckRegions(Tensor images, Tensor rois) {
  TORCH_CHECK_VALUE(images.dim() == 4 && rois.dim() == 2 && rois.size(1) == 5, "images of shape ",
                    images.sizes(), " and regions of shape ", rois.sizes(), " do not fit");
}

}  // namespace
}  // namespace simulator::operators

ACLNN(Iou, [](Tensor boxes, Tensor truth, Text mode, float eps, bool aligned, Out overlap) {
  auto a = CornersOf(aligned ? boxes : boxes.unsqueeze(1), -1);
  Store(overlap, Overlap(a, CornersOf(truth, -1), mode, eps).view_as(overlap));
});
ACLNN(ROIAlign,
      Checked([](Tensor self, Tensor rois, float, int64_t, int64_t, int64_t, int64_t,
                 Out) { CheckRegions(self, rois); },
              [](Tensor self, Tensor rois, float scale, int64_t height, int64_t width, int64_t samples,
                 int64_t endMode, Out out) {
                const Pooling pooling{scale, height, width, samples, endMode};
                const auto wide = self.to(at::kDouble);
                for (int64_t i = 0; i < rois.size(0); ++i) {
                  const auto region = RegionOf(rois[i], pooling, self.sizes());
                  out[i].copy_(at::matmul(at::matmul(region.rows, wide[region.image]), region.columns.t()));
                }
              }));
ACLNN(ROIAlignBackward, [](Tensor gradOutput, Tensor rois, Sizes imageSizes, int64_t width, int64_t height,
                           float scale, int64_t samples, int64_t endMode, Out gradInput) {
  const Pooling pooling{scale, height, width, samples, endMode};
  const auto grad = gradOutput.to(at::kDouble);
  const auto sum = at::zeros(imageSizes, grad.options());
  for (int64_t i = 0; i < rois.size(0); ++i) {
    const auto region = RegionOf(rois[i], pooling, imageSizes);
    sum[region.image].add_(at::matmul(at::matmul(region.rows.t(), grad[i]), region.columns));
  }
  Store(gradInput, sum);
});
