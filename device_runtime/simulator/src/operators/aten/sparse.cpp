// Sparse tensors in coordinate format.
#include "binding.h"
#include "store.h"

// `groups` numbers the distinct coordinates; the values of each are summed.
ACLNN(CoalesceSparse,
      [](Tensor /*distinct*/, Tensor groups, Tensor indices, Tensor values, Out newIndices, Out newValues) {
        const auto group = groups.to(at::kLong);
        Store(newIndices, at::zeros_like(newIndices).index_copy(0, group, indices));
        Store(newValues, at::zeros_like(newValues).index_add(0, group, values));
      });
