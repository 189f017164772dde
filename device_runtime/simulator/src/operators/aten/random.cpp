// Random numbers of several distributions.
#include "binding.h"
#include "checks.h"
#include "draws.h"
#include "rehearsal.h"
#include "store.h"

namespace simulator::operators {
namespace {

// Fills `self`. Phase 1 fills a single element, which refuses parameters and dtypes that no tensor can have.
template <typename Fill>
Plan Filling(Out self, const Source& source, Fill fill) {
  auto single = SingleOutput(self);
  fill(single, GeneratorAt(0, 0));
  return [=]() mutable { fill(self, source()); };
}

Plan Normal(Out self, double mean, double deviation, const Source& source) {
  return Filling(self, source, [=](Out out, auto generator) { out.normal_(mean, deviation, generator); });
}

Plan Uniform(Out self, double from, double to, const Source& source) {
  return Filling(self, source, [=](Out out, auto generator) { out.uniform_(from, to, generator); });
}

Plan Integers(Out self, int64_t from, int64_t to, const Source& source) {
  return Filling(self, source, [=](Out out, auto generator) { out.random_(from, to, generator); });
}

Plan AnyIntegers(Out self, const Source& source) {
  return Filling(self, source, [](Out out, auto generator) { out.random_(generator); });
}

void CheckFloatingPoint(Tensor tensor) {
  TORCH_CHECK_TYPE(at::isFloatingType(tensor.scalar_type()), "a tensor of dtype ", tensor.scalar_type());
}

Plan NormalOfEach(Out out, Tensor mean, Tensor deviation, const Source& source) {
  CheckFloatingPoint(out);
  CheckBroadcast(mean, deviation, out);
  return [=]() mutable {
    const auto standard = at::normal(at::zeros(out.sizes(), out.options()), 1.0, source());
    Store(out, standard * deviation + mean);
  };
}

Plan BernoulliOfEach(Out self, Tensor probability, const Source& source) {
  CheckFloatingPoint(probability);
  CheckBroadcast(self, probability, self);
  return [=]() mutable { self.bernoulli_(probability, source()); };
}

Plan Multinomial(Tensor self, int64_t samples, bool replacement, const Source& source, Out out) {
  CheckFloatingPoint(self);
  TORCH_CHECK_VALUE(self.dim() == 1 || self.dim() == 2, "the weights have shape ", self.sizes());
  TORCH_CHECK_VALUE(samples > 0 && (replacement || samples <= self.size(-1)), "cannot take ", samples,
                    " samples of ", self.size(-1), " categories");
  auto shape = self.sizes().vec();
  shape.back() = samples;
  CheckShape(out, shape);
  return [=]() mutable { Store(out, at::multinomial(self, samples, replacement, source())); };
}

// Negative elements are multiplied by a slope between the bounds, drawn in training and their mean otherwise.
Plan RandomLeakyRelu(Tensor self, Tensor noise, Scalar lower, Scalar upper, bool training, int64_t seed,
                     int64_t offset, Out out) {
  const auto least = lower.toDouble(), most = upper.toDouble();
  TORCH_CHECK_VALUE(least <= most, "the slopes are between ", least, " and ", most);
  CheckSameShape(self, out);
  if (!training) return [=]() mutable { Store(out, at::leaky_relu(self, (least + most) / 2)); };
  CheckSameShape(self, noise);
  return [=]() mutable {
    const auto drawn = at::empty_like(noise).uniform_(least, most, GeneratorAt(seed, offset));
    const auto slopes = at::where(self <= 0, drawn, 1);
    at::Tensor(noise).copy_(slopes);
    Store(out, self * slopes);
  };
}

}  // namespace
}  // namespace simulator::operators

ACLNN(InplaceNormal, Planning([](Out self, float mean, float deviation, int64_t seed, int64_t offset) {
        return Normal(self, mean, deviation, From(seed, offset));
      }));
ACLNN(InplaceNormalTensor,
      Planning([](Out self, float mean, float deviation, Tensor seed, Tensor base, int64_t offset) {
        return Normal(self, mean, deviation, From(seed, base, offset));
      }));
ACLNN(NormalFloatFloat, Planning([](float mean, float deviation, int64_t seed, int64_t offset, Out out) {
        return Normal(out, mean, deviation, From(seed, offset));
      }));
ACLNN(NormalFloatTensor, Planning([](float mean, Tensor deviation, int64_t seed, int64_t offset, Out out) {
        return NormalOfEach(out, at::full_like(deviation, mean), deviation, From(seed, offset));
      }));
ACLNN(NormalTensorFloat, Planning([](Tensor mean, float deviation, int64_t seed, int64_t offset, Out out) {
        return NormalOfEach(out, mean, at::full_like(mean, deviation), From(seed, offset));
      }));
ACLNN(NormalTensorTensor, Planning([](Tensor mean, Tensor deviation, int64_t seed, int64_t offset, Out out) {
        return NormalOfEach(out, mean, deviation, From(seed, offset));
      }));
ACLNN(InplaceUniform, Planning([](Out self, double from, double to, uint64_t seed, uint64_t offset) {
        return Uniform(self, from, to, From(seed, offset));
      }));
ACLNN(InplaceUniformTensor,
      Planning([](Out self, double from, double to, Tensor seed, Tensor base, uint64_t offset) {
        return Uniform(self, from, to, From(seed, base, offset));
      }));
ACLNN(SimThreadExponential,
      Planning([](Out self, int64_t count, double lambda, int64_t seed, int64_t offset) {
        TORCH_CHECK_VALUE(count == self.numel(), "the count ", count, " is not the tensor's ", self.numel(),
                          " elements");
        return Filling(self, From(seed, offset),
                       [=](Out out, auto generator) { out.exponential_(lambda, generator); });
      }));
ACLNN(InplaceBernoulli, Planning([](Out self, Scalar probability, int64_t seed, int64_t offset) {
        return Filling(self, From(seed, offset), [p = probability.toDouble()](Out out, auto generator) {
          out.bernoulli_(p, generator);
        });
      }));
ACLNN(InplaceBernoulliTensor, Planning([](Out self, Tensor probability, int64_t seed, int64_t offset) {
        return BernoulliOfEach(self, probability, From(seed, offset));
      }));
ACLNN(InplaceRandom, Planning([](Out self, int64_t from, int64_t to, int64_t seed, int64_t offset) {
        return Integers(self, from, to, From(seed, offset));
      }));
ACLNN(InplaceRandomTensor,
      Planning([](Out self, int64_t from, int64_t to, Tensor seed, Tensor base, int64_t offset) {
        return Integers(self, from, to, From(seed, base, offset));
      }));
ACLNN(InplaceRandomWithoutFromTo,
      Planning([](Out self, int64_t seed, int64_t offset) { return AnyIntegers(self, From(seed, offset)); }));
ACLNN(InplaceRandomWithoutFromToTensor, Planning([](Out self, Tensor seed, Tensor base, int64_t offset) {
        return AnyIntegers(self, From(seed, base, offset));
      }));
ACLNN(RReluWithNoise, Planning(RandomLeakyRelu));
ACLNN(InplaceRReluWithNoise, Planning([](Out self, Tensor noise, Scalar lower, Scalar upper, bool training,
                                         int64_t seed, int64_t offset) {
        return RandomLeakyRelu(self, noise, lower, upper, training, seed, offset, self);
      }));
ACLNN(Randperm, Planning([](int64_t n, int64_t seed, int64_t offset, Out out) -> Plan {
        CheckShape(out, {n});
        return [=]() mutable { Store(out, at::randperm(n, GeneratorAt(seed, offset), out.scalar_type())); };
      }));
ACLNN(Multinomial,
      Planning([](Tensor self, int64_t samples, bool replacement, int64_t seed, int64_t offset, Out out) {
        return Multinomial(self, samples, replacement, From(seed, offset), out);
      }));
ACLNN(MultinomialTensor, Planning([](Tensor self, int64_t samples, bool replacement, Tensor seed, Tensor base,
                                     int64_t offset, Out out) {
        return Multinomial(self, samples, replacement, From(seed, base, offset), out);
      }));
