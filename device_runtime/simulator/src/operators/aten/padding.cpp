// Padding and its gradients. `pad` has the numbers of elements before and after a dimension, from the last
// dimension on; a negative one takes elements away.
#include "binding.h"
#include "checks.h"
#include "store.h"

namespace simulator::operators {
namespace {

std::vector<int64_t> Padded(Tensor self, Sizes pad) {
  TORCH_CHECK_VALUE(pad.size() % 2 == 0 && pad.size() / 2 <= static_cast<size_t>(self.dim()),
                    "a tensor of shape ", self.sizes(), " cannot be padded by ", pad);
  auto shape = self.sizes().vec();
  for (size_t i = 0; i < pad.size() / 2; ++i) {
    auto& size = shape[shape.size() - 1 - i];
    size += pad[2 * i] + pad[2 * i + 1];
    TORCH_CHECK_VALUE(size >= 0, "nothing is left of shape ", self.sizes(), " padded by ", pad);
  }
  return shape;
}

// The last `kCount` dimensions, with one or two before them.
template <size_t kCount>
void CheckReplicated(Tensor self, Sizes pad) {
  const auto dimensions = static_cast<size_t>(self.dim());
  TORCH_CHECK_VALUE(pad.size() == 2 * kCount && (dimensions == kCount + 1 || dimensions == kCount + 2),
                    "a tensor of shape ", self.sizes(), " cannot be padded by ", pad);
}

template <size_t kCount>
void CheckReflected(Tensor self, Sizes pad) {
  CheckReplicated<kCount>(self, pad);
  for (size_t i = 0; i < pad.size(); ++i) {
    const auto size = self.size(-1 - static_cast<int64_t>(i / 2));
    TORCH_CHECK_VALUE(pad[i] < size, "a padding of ", pad[i], " cannot be reflected from ", size,
                      " elements");
  }
}

using Pad = at::Tensor (*)(const at::Tensor&, at::IntArrayRef);
using PadBackward = at::Tensor (*)(const at::Tensor&, const at::Tensor&, at::IntArrayRef);

template <auto kCheck, Pad kKernel>
Plan PadEdges(Tensor self, Sizes pad, Out out) {
  kCheck(self, pad);
  CheckShape(out, Padded(self, pad));
  return [=]() mutable { Store(out, kKernel(self, pad)); };
}

template <auto kCheck, PadBackward kKernel>
Plan PadEdgesBackward(Tensor gradOutput, Tensor self, Sizes pad, Out gradInput) {
  kCheck(self, pad);
  CheckShape(gradOutput, Padded(self, pad));
  CheckSameShape(self, gradInput);
  return [=]() mutable { Store(gradInput, kKernel(gradOutput, self, pad)); };
}

}  // namespace
}  // namespace simulator::operators

ACLNN(ConstantPadNd, Planning([](Tensor self, Sizes pad, Scalar value, Out out) -> Plan {
        CheckShape(out, Padded(self, pad));
        return [=]() mutable { Store(out, at::constant_pad_nd(self, pad, value)); };
      }));
ACLNN(ReflectionPad1d, Planning(PadEdges<CheckReflected<1>, at::reflection_pad1d>));
ACLNN(ReflectionPad2d, Planning(PadEdges<CheckReflected<2>, at::reflection_pad2d>));
ACLNN(ReflectionPad3d, Planning(PadEdges<CheckReflected<3>, at::reflection_pad3d>));
ACLNN(ReplicationPad1d, Planning(PadEdges<CheckReplicated<1>, at::replication_pad1d>));
ACLNN(ReplicationPad2d, Planning(PadEdges<CheckReplicated<2>, at::replication_pad2d>));
ACLNN(ReplicationPad3d, Planning(PadEdges<CheckReplicated<3>, at::replication_pad3d>));
ACLNN(ReflectionPad1dBackward, Planning(PadEdgesBackward<CheckReflected<1>, at::reflection_pad1d_backward>));
ACLNN(ReflectionPad2dBackward, Planning(PadEdgesBackward<CheckReflected<2>, at::reflection_pad2d_backward>));
ACLNN(ReflectionPad3dBackward, Planning(PadEdgesBackward<CheckReflected<3>, at::reflection_pad3d_backward>));
ACLNN(ReplicationPad1dBackward,
      Planning(PadEdgesBackward<CheckReplicated<1>, at::replication_pad1d_backward>));
ACLNN(ReplicationPad2dBackward,
      Planning(PadEdgesBackward<CheckReplicated<2>, at::replication_pad2d_backward>));
ACLNN(ReplicationPad3dBackward,
      Planning(PadEdgesBackward<CheckReplicated<3>, at::replication_pad3d_backward>));
