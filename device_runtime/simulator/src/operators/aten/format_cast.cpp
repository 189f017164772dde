// Changes of format. The data of a private format is kept as that of a plain tensor (see tensors.cpp), so
// what changes is the size of the storage and what the format is called.
#include "binding.h"
#include "launch.h"
#include "store.h"

namespace simulator::operators {
namespace {

constexpr int64_t kFractalRows = 16;
constexpr int64_t kFractalRowBytes = 32;

bool IsFlat(int format) {
  return format == ACL_FORMAT_ND || format == ACL_FORMAT_NCHW || format == ACL_FORMAT_NHWC ||
         format == ACL_FORMAT_NCDHW || format == ACL_FORMAT_NCL;
}

// FRACTAL_NZ divides matrices into pieces of 16 rows of 32 bytes and orders them column by column.
std::vector<int64_t> FractalShape(const std::vector<int64_t>& dims, aclDataType dtype) {
  TORCH_CHECK_VALUE(dims.size() >= 2, "a tensor of ", dims.size(), " dimensions has no matrices");
  const auto pieceColumns = kFractalRowBytes / static_cast<int64_t>(c10::elementSize(ToScalarType(dtype)));
  auto shape = std::vector<int64_t>(dims.begin(), dims.end() - 2);
  const auto rows = dims[dims.size() - 2], columns = dims.back();
  shape.push_back((columns + pieceColumns - 1) / pieceColumns);
  shape.push_back((rows + kFractalRows - 1) / kFractalRows);
  shape.push_back(kFractalRows);
  shape.push_back(pieceColumns);
  return shape;
}

std::vector<int64_t> StorageShape(const aclTensor& source, int format, int dtype) {
  if (IsFlat(format)) return source.viewDims;
  TORCH_CHECK_VALUE(format == ACL_FORMAT_FRACTAL_NZ, "a cast to format ", format, " is not implemented");
  return FractalShape(source.viewDims, static_cast<aclDataType>(dtype));
}

}  // namespace
}  // namespace simulator::operators

// The caller releases the shape with delete[].
extern "C" __attribute__((visibility("default"))) aclnnStatus aclnnNpuFormatCastCalculateSizeAndFormat(
    const aclTensor* source, int format, int dtype, int64_t** shape, uint64_t* dims, int* actualFormat) {
  using namespace simulator::operators;
  return Prepare("aclnnNpuFormatCastCalculateSizeAndFormat", [&] {
    const auto storage = StorageShape(*Required(source), format, dtype);
    *Required(shape) = new int64_t[storage.size()];
    std::copy(storage.begin(), storage.end(), *shape);
    *Required(dims) = storage.size();
    *Required(actualFormat) = format;
  });
}

ACLNN(NpuFormatCast, Planning([](Tensor source, Out target) {
        TORCH_CHECK_VALUE(source.numel() == target.numel(), "tensors of shapes ", source.sizes(), " and ",
                          target.sizes(), " are not the same in another format");
        return Plan([=] { target.copy_(source.view(target.sizes())); });
      }));
