#include "tensors.h"

#include <cstring>

#include "runtime/memory.h"

namespace simulator::operators {
namespace {

// A private format orders the data for the units of the device. Here it names a tensor like any other: the
// data stays in the order of the view, at the beginning of a storage that is never smaller. Of that the
// interface shows nothing, but to who reads the bytes of a storage without a change of format.
bool IsKnown(aclFormat format) {
  switch (format) {
    case ACL_FORMAT_UNDEFINED:
    case ACL_FORMAT_ND:
    case ACL_FORMAT_NCHW:
    case ACL_FORMAT_NHWC:
    case ACL_FORMAT_HWCN:
    case ACL_FORMAT_NCDHW:
    case ACL_FORMAT_NDHWC:
    case ACL_FORMAT_NCL:
    case ACL_FORMAT_NC:
    case ACL_FORMAT_NC1HWC0:
    case ACL_FORMAT_NC1HWC0_C04:
    case ACL_FORMAT_NDC1HWC0:
    case ACL_FORMAT_FRACTAL_Z:
    case ACL_FRACTAL_Z_3D:
    case ACL_FORMAT_FRACTAL_NZ:
    case ACL_FORMAT_FRACTAL_NZ_C0_2:
    case ACL_FORMAT_FRACTAL_NZ_C0_4:
    case ACL_FORMAT_FRACTAL_NZ_C0_8:
    case ACL_FORMAT_FRACTAL_NZ_C0_16:
    case ACL_FORMAT_FRACTAL_NZ_C0_32:
      return true;
    default:
      return false;
  }
}

template <typename Value>
Value Read(const aclScalar& scalar) {
  Value value;
  std::memcpy(&value, scalar.value.data(), sizeof(value));
  return value;
}

}  // namespace

at::ScalarType ToScalarType(aclDataType dtype) {
  switch (dtype) {
    case ACL_FLOAT:
      return at::kFloat;
    case ACL_FLOAT16:
      return at::kHalf;
    case ACL_BF16:
      return at::kBFloat16;
    case ACL_DOUBLE:
      return at::kDouble;
    case ACL_BOOL:
      return at::kBool;
    case ACL_INT8:
      return at::kChar;
    case ACL_INT16:
      return at::kShort;
    case ACL_INT32:
      return at::kInt;
    case ACL_INT64:
      return at::kLong;
    case ACL_UINT8:
      return at::kByte;
    case ACL_UINT16:
      return at::kUInt16;
    case ACL_UINT32:
      return at::kUInt32;
    case ACL_UINT64:
      return at::kUInt64;
    case ACL_COMPLEX32:
      return at::kComplexHalf;
    case ACL_COMPLEX64:
      return at::kComplexFloat;
    case ACL_COMPLEX128:
      return at::kComplexDouble;
    case ACL_FLOAT8_E5M2:
      return at::kFloat8_e5m2;
    case ACL_FLOAT8_E4M3FN:
      return at::kFloat8_e4m3fn;
    default:
      TORCH_CHECK_TYPE(false, "dtype ", static_cast<int>(dtype), " is not implemented");
  }
}

at::Tensor View(const aclTensor& descriptor) {
  TORCH_CHECK_VALUE(IsKnown(descriptor.format), "the format ", static_cast<int>(descriptor.format),
                    " is not known");
  const auto dtype = ToScalarType(descriptor.dtype);
  const auto itemsize = c10::elementSize(dtype);
  const auto bytes = at::detail::computeStorageNbytes(descriptor.viewDims, descriptor.strides, itemsize);
  auto* first = static_cast<std::byte*>(descriptor.data) + descriptor.offset * static_cast<int64_t>(itemsize);
  TORCH_CHECK_VALUE(bytes == 0 || IsDeviceMemory(first, bytes), "a tensor of ", bytes, " bytes at ",
                    static_cast<const void*>(first), " does not lie in device memory");
  return at::from_blob(first, descriptor.viewDims, descriptor.strides, at::TensorOptions(dtype));
}

at::Scalar ToScalar(const aclScalar& scalar) {
  switch (scalar.dtype) {
    case ACL_FLOAT:
      return Read<float>(scalar);
    case ACL_FLOAT16:
      return static_cast<float>(Read<at::Half>(scalar));
    case ACL_BF16:
      return static_cast<float>(Read<at::BFloat16>(scalar));
    case ACL_DOUBLE:
      return Read<double>(scalar);
    case ACL_BOOL:
      return Read<bool>(scalar);
    case ACL_INT8:
      return Read<int8_t>(scalar);
    case ACL_INT16:
      return Read<int16_t>(scalar);
    case ACL_INT32:
      return Read<int32_t>(scalar);
    case ACL_INT64:
      return Read<int64_t>(scalar);
    case ACL_UINT8:
      return Read<uint8_t>(scalar);
    case ACL_COMPLEX64:
      return Read<c10::complex<float>>(scalar);
    case ACL_COMPLEX128:
      return Read<c10::complex<double>>(scalar);
    default:
      TORCH_CHECK_TYPE(false, "a scalar of dtype ", static_cast<int>(scalar.dtype), " is not implemented");
  }
}

void Reshape(aclTensor& descriptor, at::IntArrayRef sizes) {
  descriptor.viewDims = sizes.vec();
  const auto strides = c10::contiguous_strides(sizes);
  descriptor.strides.assign(strides.begin(), strides.end());
}

}  // namespace simulator::operators
