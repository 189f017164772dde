// Operators of the older aclop interface that choose among detected boxes.
#include "legacy.h"
#include "store.h"

namespace simulator::operators {
namespace {

// Gives anchors to ground truths: those that overlap one enough, and those that overlap it most. What is
// there already stays where nothing is given.
const LegacyOperator assign{
    "GridAssignPositive", [](const LegacyCall& call) {
      const auto overlaps = call.Input(1), best = call.Input(3), bestOfTruth = call.Input(5);
      const auto responsible = call.Input(2).ne(0);
      auto assigned = call.Input(0).clone();
      const auto enough = best.gt(call.Attribute("pos_iou_thr", 0.5F)).logical_and(responsible);
      assigned = at::where(enough, (call.Input(4) + 1).to(assigned.scalar_type()), assigned);
      const auto truths = std::min(call.Input(7).item<int64_t>(), overlaps.size(0));
      const bool all = call.Attribute("gt_max_assign_all", true);
      for (int64_t truth = 0; truth < truths; ++truth) {
        if (bestOfTruth[truth].item<float>() <= call.Attribute("min_pos_iou", 0.0F)) continue;
        const auto chosen =
            all ? overlaps[truth].eq(bestOfTruth[truth]) : at::arange(best.numel()).eq(call.Input(6)[truth]);
        assigned.masked_fill_(chosen.logical_and(responsible), truth + 1);
      }
      call.Return(0, assigned);
    }};

// How much of the two each box has in common with one of them.
at::Tensor OverlapsWith(const at::Tensor& boxes, int64_t chosen) {
  const auto edges = boxes.unbind(1);
  const auto inside = [&](int64_t low, int64_t high) {
    return (at::min(edges[high], edges[high][chosen]) - at::max(edges[low], edges[low][chosen])).clamp_min(0);
  };
  const auto common = inside(0, 2) * inside(1, 3);
  const auto area = (edges[2] - edges[0]) * (edges[3] - edges[1]);
  return common / (area + area[chosen] - common);
}

// The boxes that remain when each one removes those that overlap it, the best first.
std::vector<int64_t> Remaining(const at::Tensor& boxes, const at::Tensor& scores, float scoreLimit,
                               float overlapLimit, int64_t most) {
  const auto order = at::argsort(scores, true, -1, true);
  auto alive = scores.gt(scoreLimit);
  std::vector<int64_t> remaining;
  for (int64_t i = 0; i < order.numel() && static_cast<int64_t>(remaining.size()) < most; ++i) {
    const auto box = order[i].item<int64_t>();
    if (!alive[box].item<bool>()) continue;
    remaining.push_back(box);
    alive = alive.logical_and(OverlapsWith(boxes, box).gt(overlapLimit).logical_not());
  }
  return remaining;
}

struct Detections {
  at::Tensor boxes, scores, classes;
};

// The detections of all classes in one image, the best first.
Detections DetectionsOf(const LegacyCall& call, const at::Tensor& boxes, const at::Tensor& scores) {
  std::vector<at::Tensor> foundBoxes{boxes.new_zeros({0, 4})}, foundScores{scores.new_zeros({0})};
  std::vector<at::Tensor> foundClasses{scores.new_zeros({0})};
  for (int64_t number = 0; number < scores.size(1); ++number) {
    const auto own = boxes.select(1, boxes.size(1) == 1 ? 0 : number), ownScores = scores.select(1, number);
    const auto remaining = at::tensor(
        Remaining(own, ownScores, call.Attribute("score_threshold", 0.0F),
                  call.Attribute("iou_threshold", 0.0F), call.Attribute<int64_t>("max_size_per_class", 0)),
        at::kLong);
    foundBoxes.push_back(own.index_select(0, remaining));
    foundScores.push_back(ownScores.index_select(0, remaining));
    foundClasses.push_back(ownScores.new_full({remaining.numel()}, number));
  }
  const auto all = at::cat(foundScores);
  const auto most = std::min(all.numel(), call.Attribute<int64_t>("max_total_size", 0));
  const auto best = at::argsort(all, true, -1, true).narrow(0, 0, most);
  return {at::cat(foundBoxes).index_select(0, best), all.index_select(0, best),
          at::cat(foundClasses).index_select(0, best)};
}

// Boxes are images, boxes, classes or 1, edges; scores are images, boxes, classes. What is not found is 0.
const LegacyOperator suppress{
    "BatchMultiClassNonMaxSuppression", [](const LegacyCall& call) {
      TORCH_CHECK_NOT_IMPLEMENTED(
          !call.Attribute("change_coordinate_frame", false) && !call.Attribute("transpose_box", false),
          "transposed boxes or another frame are not implemented");
      const auto boxes = Widened(call.Input(0)), scores = Widened(call.Input(1));
      for (size_t output = 0; output < 4; ++output) call.Output(output).zero_();
      for (int64_t image = 0; image < boxes.size(0); ++image) {
        const auto found = DetectionsOf(call, boxes[image], scores[image]);
        const auto count = found.scores.numel();
        const auto write = [&](size_t output, const at::Tensor& values) {
          call.Output(output)[image].narrow(0, 0, count).copy_(values);
        };
        write(0, found.boxes);
        write(1, found.scores);
        write(2, found.classes);
        call.Output(3)[image].fill_(count);
      }
    }};

}  // namespace
}  // namespace simulator::operators
