#pragma once

#include "arguments.h"

namespace simulator::operators {

// The activated gates, input, forget, candidate and output, and the states after the step.
struct LstmStep {
  at::Tensor i, f, g, o, c, tanhC, h;
};

inline LstmStep StepOf(Tensor gates, Tensor cellBefore) {
  const auto parts = gates.chunk(4, -1);
  LstmStep step{parts[0].sigmoid(), parts[1].sigmoid(), parts[2].tanh(), parts[3].sigmoid(), {}, {}, {}};
  step.c = step.f * cellBefore + step.i * step.g;
  step.tanhC = step.c.tanh();
  step.h = step.o * step.tanhC;
  return step;
}

// The gradient of the gates before their activation; that of the cell becomes the one before the step.
inline at::Tensor GateGradient(const LstmStep& step, Tensor cellBefore, Tensor gradH, at::Tensor& gradC) {
  const auto total = gradC + gradH * step.o * (1 - step.tanhC.square());
  gradC = total * step.f;
  return at::cat({total * step.g * step.i * (1 - step.i), total * cellBefore * step.f * (1 - step.f),
                  total * step.i * (1 - step.g.square()), gradH * step.tanhC * step.o * (1 - step.o)},
                 -1);
}

}  // namespace simulator::operators
