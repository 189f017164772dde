#include "legacy.h"

#include <map>
#include <memory>

#include "arguments.h"
#include "compiler/legacy_library.h"
#include "launch.h"
#include "legacy_dynamic.h"
#include "runtime/stream.h"
#include "store.h"

namespace simulator::operators {
namespace {

std::map<std::string_view, LegacyFunction>& Operators() {
  static auto* operators = new std::map<std::string_view, LegacyFunction>;
  return *operators;
}

std::map<std::string_view, DynamicLegacyFunction>& DynamicOperators() {
  static auto* operators = new std::map<std::string_view, DynamicLegacyFunction>;
  return *operators;
}

// A tensor of this shape without gaps.
aclTensor Contiguous(aclTensor tensor, at::IntArrayRef sizes) {
  tensor.viewDims = sizes.vec();
  const auto strides = c10::contiguous_strides(sizes);
  tensor.strides.assign(strides.begin(), strides.end());
  return tensor;
}

LegacyCall::Held Hold(const aclTensorDesc& desc, const aclDataBuffer& buffer) {
  const bool hasElements = c10::multiply_integers(desc.dims) != 0;
  if (desc.dtype == ACL_DT_UNDEFINED || (buffer.data == nullptr && hasElements)) return {};
  if (desc.onHost) {
    return at::from_blob(buffer.data, desc.dims, at::TensorOptions(ToScalarType(desc.dtype))).clone();
  }
  aclTensor tensor;
  tensor.dtype = desc.dtype;
  tensor.format = desc.format;
  tensor.data = buffer.data;
  return Contiguous(std::move(tensor), desc.dims);
}

template <typename Buffers>
std::vector<LegacyCall::Held> Hold(int count, const aclTensorDesc* const* descs, Buffers buffers) {
  std::vector<LegacyCall::Held> held;
  for (int i = 0; i < count; ++i) held.push_back(Hold(*Required(descs[i]), *Required(buffers[i])));
  return held;
}

const LegacyCall::Held& At(const std::vector<LegacyCall::Held>& held, size_t index, const char* what) {
  TORCH_CHECK_VALUE(index < held.size() && held[index].index() != 0, what, ' ', index, " is missing");
  return held[index];
}

}  // namespace

bool LegacyCall::HasInput(size_t index) const {
  return index < inputs_.size() && !std::holds_alternative<std::monostate>(inputs_[index]);
}

at::Tensor LegacyCall::Input(size_t index) const {
  const auto& held = At(inputs_, index, "input");
  if (const auto* host = std::get_if<at::Tensor>(&held)) return *host;
  return View(std::get<aclTensor>(held));
}

at::Tensor LegacyCall::Output(size_t index) const {
  const auto* device = std::get_if<aclTensor>(&At(outputs_, index, "output"));
  TORCH_CHECK_VALUE(device != nullptr, "output ", index, " is in host memory");
  return View(*device);
}

std::vector<int64_t> LegacyCall::Numbers(size_t index) const {
  const auto numbers = Input(index).to(at::kLong).contiguous();
  const auto* first = numbers.const_data_ptr<int64_t>();
  return {first, first + numbers.numel()};
}

at::Tensor LegacyCall::Strided(size_t index, at::IntArrayRef sizes, at::IntArrayRef strides,
                               int64_t offset) const {
  const auto* device = std::get_if<aclTensor>(&At(inputs_, index, "input"));
  TORCH_CHECK_VALUE(device != nullptr, "input ", index, " is in host memory");
  auto tensor = *device;
  tensor.viewDims = sizes.vec();
  tensor.strides = strides.vec();
  tensor.offset = offset;
  return View(tensor);
}

void LegacyCall::Return(size_t index, const at::Tensor& result) const {
  auto out = Output(index);
  Store(out, result.to(out.scalar_type()));
}

LegacyOperator::LegacyOperator(const char* type, LegacyFunction function) { Operators()[type] = function; }

DynamicLegacyOperator::DynamicLegacyOperator(const char* type, DynamicLegacyFunction function) {
  DynamicOperators()[type] = function;
}

namespace {

// Holds what an operator is given, as phase 1 of an aclnn operator does, and runs it on the stream.
template <typename Compute>
aclError Submit(const char* name, const LegacyArguments& given, aclrtStream stream, Compute compute) {
  std::function<aclError()> kernel;
  const auto status = Prepare(name, [&] {
    LegacyCall call(Hold(given.inputs, given.inputDescs, given.inputBuffers),
                    Hold(given.outputs, given.outputDescs, given.outputBuffers),
                    given.attributes == nullptr ? aclopAttr() : *given.attributes);
    kernel = [=, call = std::move(call)] { return Run(name, [&] { compute(call); }); };
  });
  if (status != ACL_SUCCESS) return status;
  // Without a kernel it is phase 2 that refuses.
  return kernel ? EnqueueKernel(stream, std::move(kernel)) : Launch(nullptr, 0, nullptr, stream);
}

// Writes a result to the first part of an output's memory.
void ReturnPart(const LegacyCall& call, size_t index, const at::Tensor& result) {
  const auto room = call.Output(index).view(-1);
  TORCH_CHECK_VALUE(result.numel() <= room.numel(), "a result of shape ", result.sizes(),
                    " for an output of ", room.numel(), " elements");
  room.narrow(0, 0, result.numel()).copy_(result.flatten());
}

aclError RunDynamic(const char* name, DynamicLegacyFunction function, const LegacyArguments& given,
                    aclrtStream stream) {
  const auto shapes = std::make_shared<std::vector<std::vector<int64_t>>>();
  const auto status = Submit(name, given, stream, [=](const LegacyCall& call) {
    const auto results = function(call);
    for (size_t i = 0; i < results.size(); ++i) {
      ReturnPart(call, i, results[i]);
      shapes->push_back(results[i].sizes().vec());
    }
  });
  if (status != ACL_SUCCESS) return status;
  if (const auto failure = Synchronize(stream)) return failure;
  for (size_t i = 0; i < shapes->size(); ++i) given.shapedDescs[i]->dims = (*shapes)[i];
  return ACL_SUCCESS;
}

}  // namespace

LegacyResult RunLegacy(const char* type, const LegacyArguments& given, aclrtStream stream) {
  const auto found = Operators().find(type);
  if (found != Operators().end()) {
    return {true, Submit(found->first.data(), given, stream, found->second)};
  }
  const auto dynamic = DynamicOperators().find(type);
  if (dynamic == DynamicOperators().end() || given.shapedDescs == nullptr) return {false, ACL_SUCCESS};
  return {true, RunDynamic(dynamic->first.data(), dynamic->second, given, stream)};
}

}  // namespace simulator::operators

extern "C" __attribute__((visibility("default"))) LegacyResult
aclopRunOnTorch(const char* type, const LegacyArguments& arguments, aclrtStream stream) {
  return simulator::operators::RunLegacy(type, arguments, stream);
}
