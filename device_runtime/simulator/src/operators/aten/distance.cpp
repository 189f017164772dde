// Distances between rows.
#include "distance.h"

#include "binding.h"
#include "store.h"

using simulator::operators::NormOrder;

ACLNN(Cdist, [](Tensor x1, Tensor x2, float p, int64_t computeMode, Out out) {
  Store(out, at::_cdist_forward(x1, x2, NormOrder(p), computeMode));
});
ACLNN(CdistBackward, [](Tensor grad, Tensor x1, Tensor x2, Tensor cdist, float p, Out out) {
  Store(out, at::_cdist_backward(grad.contiguous(), x1.contiguous(), x2.contiguous(), NormOrder(p),
                                 cdist.contiguous()));
});
ACLNN(Pdist,
      [](Tensor self, float p, Out out) { Store(out, at::_pdist_forward(self.contiguous(), NormOrder(p))); });
