// Rotated boxes in the older aclop interface.
#include <algorithm>
#include <array>
#include <cmath>

#include "legacy_dynamic.h"
#include "store.h"

namespace simulator::operators {
namespace {

struct Point {
  double x, y;
};

using Polygon = std::vector<Point>;

// Positive where the point is to the left of the line.
double SideOf(Point from, Point to, Point point) {
  return (to.x - from.x) * (point.y - from.y) - (to.y - from.y) * (point.x - from.x);
}

double AreaOf(const Polygon& polygon) {
  double twice = 0;
  for (size_t i = 1; i + 1 < polygon.size(); ++i) twice += SideOf(polygon[0], polygon[i], polygon[i + 1]);
  return std::abs(twice) / 2;
}

// What of a convex polygon is to the left of the line.
Polygon LeftOf(Point from, Point to, const Polygon& polygon) {
  Polygon left;
  for (size_t i = 0; i < polygon.size(); ++i) {
    const auto here = polygon[i], next = polygon[(i + 1) % polygon.size()];
    const auto side = SideOf(from, to, here), sideOfNext = SideOf(from, to, next);
    if (side >= 0) left.push_back(here);
    if ((side < 0) == (sideOfNext < 0)) continue;
    const auto share = side / (side - sideOfNext);
    left.push_back({here.x + (next.x - here.x) * share, here.y + (next.y - here.y) * share});
  }
  return left;
}

// Both have their corners counterclockwise.
double RotatedOverlap(const Polygon& first, const Polygon& second) {
  Polygon common = first;
  for (size_t i = 0; i < second.size(); ++i)
    common = LeftOf(second[i], second[(i + 1) % second.size()], common);
  const auto overlap = AreaOf(common), whole = AreaOf(first) + AreaOf(second) - overlap;
  return whole > 0 ? overlap / whole : 0;
}

enum BoxLayout : int64_t { kCentreAndSize = 0, kTwoCorners = 1 };

// The angle is in degrees, with two corners clockwise.
Polygon CornersOfRotated(const std::array<double, 5>& box, int64_t layout) {
  const bool two = layout == kTwoCorners;
  const Point centre = two ? Point{(box[0] + box[2]) / 2, (box[1] + box[3]) / 2} : Point{box[0], box[1]};
  const auto width = two ? box[2] - box[0] : box[2], height = two ? box[3] - box[1] : box[3];
  const auto angle = box[4] * (two ? -M_PI : M_PI) / 180;
  const auto across = Point{std::cos(angle) * width / 2, std::sin(angle) * width / 2};
  const auto up = Point{-std::sin(angle) * height / 2, std::cos(angle) * height / 2};
  Polygon corners;
  for (const auto& [x, y] : {Point{1, 1}, Point{-1, 1}, Point{-1, -1}, Point{1, -1}}) {
    corners.push_back({centre.x + across.x * x + up.x * y, centre.y + across.y * x + up.y * y});
  }
  return corners;
}

// The best first; each removes those that overlap it more than the limit.
std::vector<int64_t> RemainingRotated(const std::vector<Polygon>& boxes, const at::Tensor& order,
                                      double limit, int64_t most) {
  std::vector<int64_t> remaining;
  for (int64_t i = 0; i < order.numel() && static_cast<int64_t>(remaining.size()) != most; ++i) {
    const auto box = order[i].item<int64_t>();
    const auto removes = [&](int64_t better) { return RotatedOverlap(boxes[box], boxes[better]) > limit; };
    if (std::none_of(remaining.begin(), remaining.end(), removes)) remaining.push_back(box);
  }
  return remaining;
}

const DynamicLegacyOperator rotatedSuppression{
    "RotatedNMS", [](const LegacyCall& call) -> std::vector<at::Tensor> {
      const auto boxes = call.Input(0), scores = call.Input(1);
      const auto layout = call.Attribute<int64_t>("mode", kCentreAndSize);
      TORCH_CHECK_VALUE(boxes.dim() == 2 && boxes.size(1) == 5 && scores.numel() == boxes.size(0),
                        "boxes of shape ", boxes.sizes(), " with scores of shape ", scores.sizes());
      TORCH_CHECK_VALUE(layout == kCentreAndSize || layout == kTwoCorners, "mode ", layout, " is not known");
      TORCH_CHECK_NOT_IMPLEMENTED(!call.HasInput(2) || call.Input(2).numel() <= 1,
                                  "labels of the boxes are not implemented");
      std::vector<Polygon> polygons;
      for (const auto& row : boxes.to(at::kDouble).contiguous().unbind(0)) {
        std::array<double, 5> box{};
        std::copy_n(row.const_data_ptr<double>(), box.size(), box.begin());
        polygons.push_back(CornersOfRotated(box, layout));
      }
      const auto sorted = at::argsort(scores, true, -1, true);
      const auto good = scores.index_select(0, sorted).ge(call.Attribute("score_threshold", 0.0F));
      const auto remaining = at::tensor(
          RemainingRotated(polygons, sorted.masked_select(good), call.Attribute("iou_threshold", 0.0F),
                           call.Attribute<int64_t>("max_output_size", -1)),
          at::kLong);
      return {boxes.index_select(0, remaining), remaining};
    }};

}  // namespace
}  // namespace simulator::operators
