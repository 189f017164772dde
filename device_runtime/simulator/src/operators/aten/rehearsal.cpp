#include "rehearsal.h"

#include <array>
#include <cstring>

namespace simulator::operators {
namespace {

at::Tensor SingleElementOf(at::ScalarType dtype, int64_t dimensions) {
  const std::vector<int64_t> sizes(dimensions, 1);
  return at::Tensor(at::detail::empty_cpu(sizes, at::TensorOptions(dtype)));
}

}  // namespace

at::Tensor SingleInput(const at::Tensor& tensor) {
  constexpr size_t kDtypes = static_cast<size_t>(at::ScalarType::NumOptions);
  constexpr size_t kDimensions = 9;  // a device knows no more than eight
  // Nobody writes to them, so they are made once.
  thread_local std::array<std::array<at::Tensor, kDimensions>, kDtypes> inputs;
  auto& input = inputs.at(static_cast<size_t>(tensor.scalar_type())).at(tensor.dim());
  if (!input.defined()) input = SingleElementOf(tensor.scalar_type(), tensor.dim()).fill_(1);
  return input;
}

at::Tensor SingleOutput(const at::Tensor& tensor) {
  auto output = SingleElementOf(tensor.scalar_type(), tensor.dim());
  std::memset(output.data_ptr(), 0, output.nbytes());
  return output;
}

}  // namespace simulator::operators
