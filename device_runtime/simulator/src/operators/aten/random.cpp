// Random numbers. Each call names its seed and offset, so the same pair gives the same numbers; they are not
// the numbers that a device would give.
#include <ATen/CPUGeneratorImpl.h>

#include "binding.h"
#include "dropout.h"
#include "store.h"

namespace simulator::operators {
namespace {

// Runs `fill` with a generator that depends on seed and offset alone. Nothing is drawn when only shapes are
// checked.
template <typename Fill>
void Draw(int64_t seed, int64_t offset, Fill fill) {
  constexpr uint64_t kGoldenRatio = 0x9E3779B97F4A7C15;  // spreads neighbouring offsets over all bits
  const auto state = static_cast<uint64_t>(seed) ^ (static_cast<uint64_t>(offset) * kGoldenRatio);
  fill(at::detail::createCPUGenerator(state));
}

// In a captured graph, seed and offset are in device memory and the graph adds its own offset.
int64_t NumberIn(Tensor scalar) { return scalar.item<int64_t>(); }

void Normal(Out out, Tensor mean, Tensor deviation, int64_t seed, int64_t offset) {
  Draw(seed, offset, [&](auto generator) {
    Store(out, at::normal(at::zeros(out.sizes(), out.options()), 1.0, generator) * deviation + mean);
  });
}

// One bit an element, eight to a byte from the lowest: set where the element is kept.
void DropoutMask(Sizes shape, double probability, int64_t seed, int64_t offset, Out mask) {
  TORCH_CHECK_VALUE(probability >= 0 && probability <= 1, "the probability ", probability,
                    " is not in [0, 1]");
  TORCH_CHECK_TYPE(mask.scalar_type() == at::kByte, "the mask has dtype ", mask.scalar_type(), ", not uint8");
  const auto elements = c10::multiply_integers(shape);
  TORCH_CHECK_VALUE(mask.numel() * 8 >= elements, "a mask of ", mask.numel(), " bytes is too short for ",
                    elements, " elements");
  Draw(seed, offset, [&](auto generator) {
    const auto bits = at::empty({mask.numel(), 8}, mask.options()).bernoulli_(1 - probability, generator);
    const auto weights = at::pow(2, at::arange(8, mask.options()));
    mask.copy_((bits * weights).sum(1).view_as(mask));
  });
}

// The mask is left alone where it says nothing.
void Dropout(Tensor input, double probability, int64_t seed, int64_t offset, Out out, Out mask) {
  if (probability == 0 || probability == 1) {
    Store(out, input * (1 - probability));
    return;
  }
  DropoutMask(input.sizes().vec(), probability, seed, offset, mask);
  Store(out, input * KeptElements(mask, input.sizes()) / (1 - probability));
}

// Negative elements are multiplied by a slope between the bounds, drawn in training and their mean otherwise.
void RandomLeakyRelu(Tensor self, Tensor noise, Scalar lower, Scalar upper, bool training, int64_t seed,
                     int64_t offset, Out out) {
  if (!training) {
    Store(out, at::leaky_relu(self, (lower.toDouble() + upper.toDouble()) / 2));
    return;
  }
  auto drawn = at::empty_like(noise);
  Draw(seed, offset, [&](auto generator) { drawn.uniform_(lower.toDouble(), upper.toDouble(), generator); });
  const auto slopes = at::where(self <= 0, drawn, 1);
  at::Tensor(noise).copy_(slopes);
  Store(out, self * slopes);
}

void RandomInt(Out self, int64_t from, int64_t to, int64_t seed, int64_t offset) {
  Draw(seed, offset, [&](auto generator) { self.random_(from, to, generator); });
}

}  // namespace
}  // namespace simulator::operators

ACLNN(InplaceNormal, [](Out self, float mean, float deviation, int64_t seed, int64_t offset) {
  Draw(seed, offset, [&](auto generator) { self.normal_(mean, deviation, generator); });
});
ACLNN(InplaceNormalTensor,
      [](Out self, float mean, float deviation, Tensor seed, Tensor base, int64_t offset) {
        Draw(NumberIn(seed), NumberIn(base) + offset,
             [&](auto generator) { self.normal_(mean, deviation, generator); });
      });
ACLNN(NormalFloatFloat, [](float mean, float deviation, int64_t seed, int64_t offset, Out out) {
  Draw(seed, offset, [&](auto generator) { out.normal_(mean, deviation, generator); });
});
ACLNN(NormalFloatTensor, [](float mean, Tensor deviation, int64_t seed, int64_t offset, Out out) {
  Normal(out, at::full_like(deviation, mean), deviation, seed, offset);
});
ACLNN(NormalTensorFloat, [](Tensor mean, float deviation, int64_t seed, int64_t offset, Out out) {
  Normal(out, mean, at::full_like(mean, deviation), seed, offset);
});
ACLNN(NormalTensorTensor, [](Tensor mean, Tensor deviation, int64_t seed, int64_t offset, Out out) {
  Normal(out, mean, deviation, seed, offset);
});
ACLNN(InplaceUniform, [](Out self, double from, double to, uint64_t seed, uint64_t offset) {
  Draw(seed, offset, [&](auto generator) { self.uniform_(from, to, generator); });
});
ACLNN(InplaceUniformTensor, [](Out self, double from, double to, Tensor seed, Tensor base, uint64_t offset) {
  Draw(NumberIn(seed), NumberIn(base) + offset, [&](auto generator) { self.uniform_(from, to, generator); });
});
ACLNN(SimThreadExponential, [](Out self, int64_t count, double lambda, int64_t seed, int64_t offset) {
  TORCH_CHECK_VALUE(count == self.numel(), "the count ", count, " is not the tensor's ", self.numel(),
                    " elements");
  Draw(seed, offset, [&](auto generator) { self.exponential_(lambda, generator); });
});
ACLNN(InplaceBernoulli, [](Out self, Scalar probability, int64_t seed, int64_t offset) {
  Draw(seed, offset, [&](auto generator) { self.bernoulli_(probability.toDouble(), generator); });
});
ACLNN(InplaceBernoulliTensor, [](Out self, Tensor probability, int64_t seed, int64_t offset) {
  Draw(seed, offset, [&](auto generator) { self.bernoulli_(probability, generator); });
});
ACLNN(InplaceRandom, RandomInt);
ACLNN(InplaceRandomTensor, [](Out self, int64_t from, int64_t to, Tensor seed, Tensor base, int64_t offset) {
  RandomInt(self, from, to, NumberIn(seed), NumberIn(base) + offset);
});
ACLNN(InplaceRandomWithoutFromTo, [](Out self, int64_t seed, int64_t offset) {
  Draw(seed, offset, [&](auto generator) { self.random_(generator); });
});
ACLNN(InplaceRandomWithoutFromToTensor, [](Out self, Tensor seed, Tensor base, int64_t offset) {
  Draw(NumberIn(seed), NumberIn(base) + offset, [&](auto generator) { self.random_(generator); });
});
ACLNN(RReluWithNoise, RandomLeakyRelu);
ACLNN(InplaceRReluWithNoise,
      [](Out self, Tensor noise, Scalar lower, Scalar upper, bool training, int64_t seed, int64_t offset) {
        RandomLeakyRelu(self, noise, lower, upper, training, seed, offset, self);
      });
ACLNN(Randperm, [](int64_t n, int64_t seed, int64_t offset, Out out) {
  Draw(seed, offset, [&](auto generator) { Store(out, at::randperm(n, generator, out.scalar_type())); });
});
ACLNN(Multinomial, [](Tensor self, int64_t samples, bool replacement, int64_t seed, int64_t offset, Out out) {
  Draw(seed, offset,
       [&](auto generator) { Store(out, at::multinomial(self, samples, replacement, generator)); });
});
ACLNN(MultinomialTensor,
      [](Tensor self, int64_t samples, bool replacement, Tensor seed, Tensor base, int64_t offset, Out out) {
        Draw(NumberIn(seed), NumberIn(base) + offset,
             [&](auto generator) { Store(out, at::multinomial(self, samples, replacement, generator)); });
      });

ACLNN(DropoutGenMask, DropoutMask);
ACLNN(DropoutGenMaskV2,
      [](Sizes shape, double probability, int64_t seed, int64_t offset, Type /*probability's*/, Out mask) {
        DropoutMask(shape, probability, seed, offset, mask);
      });
ACLNN(DropoutGenMaskV2Tensor,
      [](Sizes shape, double probability, Tensor seed, Tensor base, int64_t offset, Type /*probability's*/,
         Out mask) { DropoutMask(shape, probability, NumberIn(seed), NumberIn(base) + offset, mask); });
ACLNN(DropoutV3, [](Tensor input, Absent /*noiseShape*/, double probability, int64_t seed, int64_t offset,
                    Out out, Out mask) { Dropout(input, probability, seed, offset, out, mask); });
ACLNN(DropoutV3Grad, [](Tensor gradOutput, Tensor mask, double scale, Out gradInput) {
  Store(gradInput, gradOutput * KeptElements(mask, gradOutput.sizes()) * scale);
});
ACLNN(MaskedScale, [](Tensor self, Tensor mask, float scale, Out out) {
  Store(out, Widened(self) * Widened(mask) * scale);
});
ACLNN(DropoutDoMask, [](Tensor self, Tensor mask, double probability, Out out) {
  if (probability == 1) {
    out.zero_();
    return;
  }
  Store(out, self * KeptElements(mask, self.sizes()) / (1 - probability));
});
