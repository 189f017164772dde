#include "arguments.h"

namespace simulator::operators {

void DynamicOut::Assign(Tensor result) {
  TORCH_CHECK_VALUE(result.scalar_type() == memory_.scalar_type(), "the result has dtype ",
                    result.scalar_type(), ", the output tensor ", memory_.scalar_type());
  TORCH_CHECK_VALUE(result.numel() <= memory_.numel(), "a result of ", result.numel(),
                    " elements does not fit the output tensor of ", memory_.numel());
  at::from_blob(memory_.data_ptr(), result.sizes(), memory_.options()).copy_(result);
  Reshape(*handle_, result.sizes());
}

}  // namespace simulator::operators
