// Operators of the older aclop interface for detection: boxes, and how much they overlap.
#include "legacy.h"
#include "store.h"

namespace simulator::operators {
namespace {

// Corners and sizes of boxes; the coordinates are rows.
struct Boxes {
  at::Tensor left, top, right, bottom;

  at::Tensor Width() const { return right - left; }
  at::Tensor Height() const { return bottom - top; }
  at::Tensor CentreX() const { return (left + right) * 0.5; }
  at::Tensor CentreY() const { return (top + bottom) * 0.5; }
};

Boxes FromRows(Tensor rows) {
  const auto wide = Widened(rows);
  return {wide.select(0, 0), wide.select(0, 1), wide.select(0, 2), wide.select(0, 3)};
}

Boxes FromColumns(Tensor columns) { return FromRows(columns.t()); }

// `trans` says that the rows are the centre and the size.
Boxes FromRows(Tensor rows, bool trans) {
  if (!trans) return FromRows(rows);
  const auto [x, y, width, height] = FromRows(rows);
  return {x - width * 0.5, y - height * 0.5, x + width * 0.5, y + height * 0.5};
}

// Boxes that meet every one of a row of others.
Boxes Down(const Boxes& boxes) {
  return {boxes.left.unsqueeze(1), boxes.top.unsqueeze(1), boxes.right.unsqueeze(1),
          boxes.bottom.unsqueeze(1)};
}

at::Tensor Area(const Boxes& boxes) { return boxes.Width() * boxes.Height(); }

Boxes CommonPart(const Boxes& first, const Boxes& second) {
  Boxes both{at::max(first.left, second.left), at::max(first.top, second.top),
             at::min(first.right, second.right), at::min(first.bottom, second.bottom)};
  both.right = at::max(both.right, both.left);
  both.bottom = at::max(both.bottom, both.top);
  return both;
}

Boxes Hull(const Boxes& first, const Boxes& second) {
  return {at::min(first.left, second.left), at::min(first.top, second.top),
          at::max(first.right, second.right), at::max(first.bottom, second.bottom)};
}

// What GIoU, DIoU and CIoU have in common.
struct BoxPairs {
  explicit BoxPairs(const LegacyCall& call)
      : first(FromRows(call.Input(0), call.Attribute("trans", false))),
        second(FromRows(call.Input(1), call.Attribute("trans", false))) {
    const auto mode = call.Attribute<std::string>("mode", "iou");
    TORCH_CHECK_VALUE(mode == "iou", "mode ", mode, " is not implemented");
    if (call.Attribute("is_cross", true)) second = Down(second);
    const auto overlap = Area(CommonPart(first, second));
    joined = Area(first) + Area(second) - overlap;
    iou = overlap / joined.clamp_min(kEps);
    hull = Hull(first, second);
  }

  // The squared distance of the centres over the squared diagonal of the hull.
  at::Tensor Distance() const {
    const auto between =
        (first.CentreX() - second.CentreX()).square() + (first.CentreY() - second.CentreY()).square();
    return between / (hull.Width().square() + hull.Height().square() + kEps);
  }

  static constexpr double kEps = 1e-9;

  Boxes first, second, hull;
  at::Tensor joined, iou;
};

// BoxPairs that are not crossed come as one row.
void Overlaps(const LegacyCall& call, size_t index, Tensor result) {
  call.Return(index, result.view(call.Output(index).sizes()));
}

// The areas of boxes, as the device keeps them; torch_npu's tests show it.
at::Tensor AreaInHalf(const Boxes& boxes, double eps) {
  const auto width = (boxes.Width() + eps).to(at::kHalf), height = (boxes.Height() + eps).to(at::kHalf);
  return (width * height).to(at::kFloat);
}

// One row of overlaps for each ground truth.
const LegacyOperator iou{"Iou", [](const LegacyCall& call) {
                           const auto first = FromColumns(call.Input(0));
                           const auto second = Down(FromColumns(call.Input(1)));
                           const auto eps = call.Attribute("eps", 1.0F);
                           const auto overlap = Area(CommonPart(first, second));
                           const auto ground = AreaInHalf(second, eps);
                           const bool foreground = call.Attribute<std::string>("mode", "iou") == "iof";
                           const auto whole = foreground ? ground : AreaInHalf(first, eps) + ground - overlap;
                           Overlaps(call, 0, overlap / whole);
                         }};

const LegacyOperator giou{"GIoU", [](const LegacyCall& call) {
                            const BoxPairs pairs(call);
                            const auto hull = Area(pairs.hull).clamp_min(BoxPairs::kEps);
                            Overlaps(call, 0, pairs.iou - (hull - pairs.joined) / hull);
                          }};

const LegacyOperator diou{"DIoU", [](const LegacyCall& call) {
                            const BoxPairs pairs(call);
                            Overlaps(call, 0, pairs.iou - pairs.Distance());
                          }};

// The second output is what the gradient needs of the angles.
const LegacyOperator ciou{"CIoU", [](const LegacyCall& call) {
                            const BoxPairs pairs(call);
                            const auto angle = [](const Boxes& boxes) {
                              return at::atan(boxes.Width() / (boxes.Height() + BoxPairs::kEps));
                            };
                            const auto between = angle(pairs.second) - angle(pairs.first);
                            const auto shape = between.square() * (4 / (M_PI * M_PI));
                            const auto weight = shape / (1 - pairs.iou + shape).clamp_min(BoxPairs::kEps);
                            Overlaps(call, 0, pairs.iou - (pairs.Distance() + shape * weight));
                            if (call.Attribute("atan_sub_flag", false)) Overlaps(call, 1, between);
                          }};

at::Tensor FourNumbers(const LegacyCall& call, std::string_view name, float otherwise) {
  const auto values = call.Attribute(name, std::vector<float>(4, otherwise));
  TORCH_CHECK_VALUE(values.size() == 4, "attribute ", name, " has ", values.size(), " numbers, not 4");
  return at::tensor(values);
}

// The device encodes boxes in half precision whatever their dtype; torch_npu's tests show it.
Boxes InHalf(const Boxes& boxes) {
  return {boxes.left.to(at::kHalf), boxes.top.to(at::kHalf), boxes.right.to(at::kHalf),
          boxes.bottom.to(at::kHalf)};
}

// Both count a box's pixels: its width is x2 - x1 + 1.
const LegacyOperator encode{
    "BoundingBoxEncode", [](const LegacyCall& call) {
      const auto anchors = InHalf(FromColumns(call.Input(0)));
      const auto truths = InHalf(FromColumns(call.Input(1)));
      const auto width = anchors.Width() + 1;
      const auto height = anchors.Height() + 1;
      const auto deltas = at::stack(
          {(truths.CentreX() - anchors.CentreX()) / width, (truths.CentreY() - anchors.CentreY()) / height,
           at::log((truths.Width() + 1) / width), at::log((truths.Height() + 1) / height)},
          1);
      const auto means = FourNumbers(call, "means", 0).to(at::kHalf);
      call.Return(0, (deltas - means) / FourNumbers(call, "stds", 1).to(at::kHalf));
    }};

const LegacyOperator decode{
    "BoundingBoxDecode", [](const LegacyCall& call) {
      const auto rois = FromColumns(call.Input(0));
      const auto scaled =
          Widened(call.Input(1)) * FourNumbers(call, "stds", 1) + FourNumbers(call, "means", 0);
      const auto [dx, dy, dw, dh] = FromColumns(scaled);
      const auto limit = std::abs(std::log(call.Attribute("wh_ratio_clip", 0.016F)));
      const auto width = rois.Width() + 1;
      const auto height = rois.Height() + 1;
      const auto x = rois.CentreX() + width * dx;
      const auto y = rois.CentreY() + height * dy;
      const auto halfWidth = width * dw.clamp(-limit, limit).exp() * 0.5 - 0.5;
      const auto halfHeight = height * dh.clamp(-limit, limit).exp() * 0.5 - 0.5;
      const auto shape = call.Attribute("max_shape", std::vector<int64_t>());
      TORCH_CHECK_VALUE(shape.size() == 2, "max_shape is not a height and a width");
      const auto inside = [](Tensor edge, int64_t size) { return edge.clamp(0, size - 1); };
      call.Return(0, at::stack({inside(x - halfWidth, shape[1]), inside(y - halfHeight, shape[0]),
                                inside(x + halfWidth, shape[1]), inside(y + halfHeight, shape[0])},
                               1));
    }};

const LegacyOperator yolo{
    "YoloBoxesEncode", [](const LegacyCall& call) {
      constexpr double kEps = 1e-6;
      const auto anchors = FromColumns(call.Input(0));
      const auto truths = FromColumns(call.Input(1));
      const auto stride = call.Input(2);
      const auto centre = [&](Tensor truth, Tensor anchor) {
        return ((truth - anchor) / stride + 0.5).clamp(kEps, 1 - kEps);
      };
      const auto size = [](Tensor truth, Tensor anchor) { return (truth / anchor).clamp_min(kEps).log(); };
      call.Return(
          0,
          at::stack({centre(truths.CentreX(), anchors.CentreX()), centre(truths.CentreY(), anchors.CentreY()),
                     size(truths.Width(), anchors.Width()), size(truths.Height(), anchors.Height())},
                    1));
    }};

// Marks the anchors of the cells that the centre of a ground truth lies in.
const LegacyOperator responsible{
    "AnchorResponseFlags", [](const LegacyCall& call) {
      const auto truths = FromColumns(call.Input(0));
      const auto map = call.Attribute("featmap_size", std::vector<int64_t>());
      const auto strides = call.Attribute("strides", std::vector<int64_t>());
      TORCH_CHECK_VALUE(map.size() == 2 && strides.size() == 2,
                        "featmap_size or strides are not two numbers");
      const auto x = (truths.CentreX() / strides[0]).floor().to(at::kLong);
      const auto y = (truths.CentreY() / strides[1]).floor().to(at::kLong);
      const auto flags = at::zeros({map[0] * map[1]}, at::kByte).index_fill(0, y * map[1] + x, 1);
      call.Return(0, flags.repeat_interleave(call.Attribute<int64_t>("num_base_anchors", 1)));
    }};

}  // namespace
}  // namespace simulator::operators
