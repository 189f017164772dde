// Dropout, and the mask that its gradient needs.
#include "dropout.h"

#include "binding.h"
#include "checks.h"
#include "draws.h"
#include "store.h"

namespace simulator::operators {
namespace {

void CheckBits(Tensor mask, int64_t elements) {
  TORCH_CHECK_TYPE(mask.scalar_type() == at::kByte, "the mask has dtype ", mask.scalar_type(), ", not uint8");
  TORCH_CHECK_VALUE(mask.numel() * 8 >= elements, "a mask of ", mask.numel(), " bytes is too short for ",
                    elements, " elements");
}

// One bit an element, eight to a byte from the lowest: set where the element is kept.
Plan DropoutMask(at::IntArrayRef shape, double probability, const Source& source, Out mask) {
  TORCH_CHECK_VALUE(probability >= 0 && probability <= 1, "the probability ", probability,
                    " is not in [0, 1]");
  CheckBits(mask, c10::multiply_integers(shape));
  return [=]() mutable {
    const auto bits = at::empty({mask.numel(), 8}, mask.options()).bernoulli_(1 - probability, source());
    const auto weights = at::pow(2, at::arange(8, mask.options()));
    mask.copy_((bits * weights).sum(1).view_as(mask));
  };
}

// What is kept of a tensor of the output's shape, times `scale`.
Plan Kept(Tensor self, Tensor mask, double scale, Out out) {
  CheckSameShape(self, out);
  CheckBits(mask, self.numel());
  return [=]() mutable { Store(out, self * KeptElements(mask, self.sizes()) * scale); };
}

// The mask is left alone where it says nothing.
Plan Dropout(Tensor input, Absent /*noiseShape*/, double probability, int64_t seed, int64_t offset, Out out,
             Out mask) {
  CheckSameShape(input, out);
  if (probability == 0 || probability == 1) {
    return [=]() mutable { Store(out, input * (1 - probability)); };
  }
  return [draw = DropoutMask(input.sizes(), probability, From(seed, offset), mask),
          keep = Kept(input, mask, 1 / (1 - probability), out)] {
    draw();
    keep();
  };
}

}  // namespace
}  // namespace simulator::operators

ACLNN(DropoutGenMask, Planning([](Sizes shape, double probability, int64_t seed, int64_t offset, Out mask) {
        return DropoutMask(shape, probability, From(seed, offset), mask);
      }));
ACLNN(DropoutGenMaskV2,
      Planning([](Sizes shape, double probability, int64_t seed, int64_t offset, Type /*probability's*/,
                  Out mask) { return DropoutMask(shape, probability, From(seed, offset), mask); }));
ACLNN(DropoutGenMaskV2Tensor, Planning([](Sizes shape, double probability, Tensor seed, Tensor base,
                                          int64_t offset, Type /*probability's*/, Out mask) {
        return DropoutMask(shape, probability, From(seed, base, offset), mask);
      }));
ACLNN(DropoutV3, Planning(Dropout));
ACLNN(DropoutV3Grad, Planning([](Tensor gradOutput, Tensor mask, double scale, Out gradInput) {
        return Kept(gradOutput, mask, scale, gradInput);
      }));
ACLNN(MaskedScale, Broadcasting([](Tensor self, Tensor mask, float scale, Out out) {
        Store(out, Widened(self) * Widened(mask) * scale);
      }));
ACLNN(DropoutDoMask, Planning([](Tensor self, Tensor mask, double probability, Out out) -> Plan {
        CheckSameShape(self, out);
        if (probability == 1) return [=]() mutable { out.zero_(); };
        return Kept(self, mask, 1 / (1 - probability), out);
      }));
