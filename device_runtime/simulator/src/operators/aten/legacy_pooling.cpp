// Position-sensitive pooling of regions, and its gradient, in the older aclop interface.
#include "legacy.h"
#include "store.h"

namespace simulator::operators {
namespace {

// The cells of each region along one axis: rows are regions, columns the cells. They may overlap by a pixel.
struct Cells {
  at::Tensor begin, end;
};

// A region is at least a tenth of a pixel long.
Cells CellsOf(at::Tensor first, at::Tensor last, double scale, int64_t groups, int64_t pixels) {
  const auto start = at::round(first) * scale, end = at::round(last + 1) * scale;
  const auto step = ((end - start).clamp_min(0.1) / groups).unsqueeze(1);
  const auto number = at::arange(groups, step.options());
  const auto edge = [&](const at::Tensor& value) { return value.clamp(0, pixels).to(at::kLong); };
  return {edge(at::floor(number * step + start.unsqueeze(1))),
          edge(at::ceil((number + 1) * step + start.unsqueeze(1)))};
}

// Where the four corners of every cell lie in the maps: regions, results, rows and columns of cells.
class Corners {
 public:
  // The regions of a batch are columns: number of the map, left, top, right, bottom.
  Corners(const LegacyCall& call, size_t regions, int64_t height, int64_t width) {
    const auto groups = call.Attribute<int64_t>("group_size", 0),
               results = call.Attribute<int64_t>("output_dim", 0);
    const auto scale = call.Attribute("spatial_scale", 1.0F);
    TORCH_CHECK_VALUE(groups > 0 && results > 0, groups, " groups and ", results, " results");
    const auto rows = Widened(call.Input(regions)).transpose(1, 2).reshape({-1, 5}).unbind(1);
    const auto across = CellsOf(rows[1], rows[3], scale, groups, width);
    const auto down = CellsOf(rows[2], rows[4], scale, groups, height);
    map = rows[0].to(at::kLong).view({-1, 1, 1, 1});
    channel = at::arange(results * groups * groups).view({1, results, groups, groups});
    top = down.begin.view({-1, 1, groups, 1});
    bottom = down.end.view({-1, 1, groups, 1});
    left = across.begin.view({-1, 1, 1, groups});
    right = across.end.view({-1, 1, 1, groups});
    area = ((bottom - top).clamp_min(0) * (right - left).clamp_min(0)).to(at::kDouble);
  }

  using Index = c10::List<std::optional<at::Tensor>>;
  Index At(const at::Tensor& y, const at::Tensor& x) const { return Index({map, channel, y, x}); }

  at::Tensor map, channel, top, bottom, left, right, area;
};

at::Tensor PerPixel(at::Tensor sums, const at::Tensor& area) {
  return at::where(area > 0, sums / area.clamp_min(1), at::zeros({}, sums.options()));
}

// The mean over each cell, from sums over everything above and to the left of a corner.
const LegacyOperator pool{"PSROIPoolingV2", [](const LegacyCall& call) {
                            const auto maps = call.Input(0).to(at::kDouble);
                            const Corners corners(call, 1, maps.size(2), maps.size(3));
                            const auto sums = at::constant_pad_nd(maps.cumsum(2).cumsum(3), {1, 0, 1, 0});
                            const auto at = [&](Tensor y, Tensor x) { return sums.index(corners.At(y, x)); };
                            const auto total =
                                at(corners.bottom, corners.right) - at(corners.top, corners.right) -
                                at(corners.bottom, corners.left) + at(corners.top, corners.left);
                            call.Return(0, PerPixel(total, corners.area));
                          }};

// Each cell adds its share at its first corner and takes it away behind the last row and column.
const LegacyOperator poolGradient{
    "PSROIPoolingGradV2D", [](const LegacyCall& call) {
      auto shape = call.Output(0).sizes().vec();
      const Corners corners(call, 1, shape[2]++, shape[3]++);
      const auto share = PerPixel(call.Input(0).to(at::kDouble), corners.area);
      auto changes = at::zeros(shape, share.options());
      const auto add = [&](Tensor y, Tensor x, const at::Tensor& values) {
        changes.index_put_(corners.At(y, x), values, true);
      };
      add(corners.top, corners.left, share);
      add(corners.bottom, corners.right, share);
      add(corners.top, corners.right, -share);
      add(corners.bottom, corners.left, -share);
      call.Return(0, changes.cumsum(2).cumsum(3).narrow(2, 0, shape[2] - 1).narrow(3, 0, shape[3] - 1));
    }};

}  // namespace
}  // namespace simulator::operators
