#include "legacy.h"

#include <map>

#include "binding.h"
#include "compiler/legacy_library.h"
#include "runtime/stream.h"

namespace simulator::operators {
namespace {

std::map<std::string_view, LegacyFunction>& Operators() {
  static auto* operators = new std::map<std::string_view, LegacyFunction>;
  return *operators;
}

at::Tensor Hold(const aclTensorDesc& desc, const aclDataBuffer& buffer) {
  if (buffer.data == nullptr && buffer.bytes == 0) return {};
  if (desc.onHost) {
    return at::from_blob(buffer.data, desc.dims, at::TensorOptions(ToScalarType(desc.dtype))).clone();
  }
  aclTensor tensor{};
  tensor.dtype = desc.dtype;
  tensor.format = desc.format;
  tensor.viewDims = desc.dims;
  const auto strides = c10::contiguous_strides(desc.dims);
  tensor.strides.assign(strides.begin(), strides.end());
  tensor.data = buffer.data;
  return View(tensor);
}

template <typename Buffers>
std::vector<at::Tensor> Hold(int count, const aclTensorDesc* const* descs, Buffers buffers) {
  std::vector<at::Tensor> held;
  for (int i = 0; i < count; ++i) held.push_back(Hold(*Required(descs[i]), *Required(buffers[i])));
  return held;
}

std::vector<at::Tensor> Copies(const std::vector<at::Tensor>& tensors) {
  std::vector<at::Tensor> copies;
  for (const auto& tensor : tensors) {
    copies.push_back(tensor.defined() ? ForOneRun(tensor) : at::Tensor());
  }
  return copies;
}

}  // namespace

const at::Tensor& LegacyCall::Input(size_t index) const {
  TORCH_CHECK_VALUE(HasInput(index), "input ", index, " is missing");
  return inputs_[index];
}

at::Tensor& LegacyCall::Output(size_t index) {
  TORCH_CHECK_VALUE(index < outputs_.size() && outputs_[index].defined(), "output ", index, " is missing");
  return outputs_[index];
}

LegacyCall LegacyCall::ForOneRun() const { return {Copies(inputs_), Copies(outputs_), attributes_}; }

LegacyOperator::LegacyOperator(const char* type, LegacyFunction function) { Operators()[type] = function; }

// Holds what it is given, as phase 1 of an aclnn operator does, and runs it on the stream.
LegacyResult RunLegacy(const char* type, const LegacyArguments& given, aclrtStream stream) {
  const auto found = Operators().find(type);
  if (found == Operators().end()) return {false, ACL_SUCCESS};
  const auto [name, function] = *found;
  std::function<aclError()> kernel;
  const auto status = Prepare(name.data(), [&] {
    const LegacyCall call(Hold(given.inputs, given.inputDescs, given.inputBuffers),
                          Hold(given.outputs, given.outputDescs, given.outputBuffers),
                          given.attributes == nullptr ? aclopAttr() : *given.attributes);
    kernel = [name = name.data(), function = function, call] {
      return Run(name, [&] {
        auto once = call.ForOneRun();
        function(once);
      });
    };
  });
  return {true, status == ACL_SUCCESS ? EnqueueKernel(stream, std::move(kernel)) : status};
}

}  // namespace simulator::operators

extern "C" __attribute__((visibility("default"))) LegacyResult
aclopRunOnTorch(const char* type, const LegacyArguments& arguments, aclrtStream stream) {
  return simulator::operators::RunLegacy(type, arguments, stream);
}
