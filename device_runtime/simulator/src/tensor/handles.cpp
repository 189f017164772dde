#include <algorithm>
#include <cstring>

#include "acl/acl_base.h"
#include "aclnn/aclnn_base.h"
#include "runtime/error.h"
#include "tensor/descriptors.h"

using simulator::Fail;

namespace {

std::vector<int64_t> Copied(const int64_t* values, uint64_t count) {
  return values == nullptr ? std::vector<int64_t>() : std::vector<int64_t>(values, values + count);
}

std::vector<int64_t> ContiguousStrides(const std::vector<int64_t>& dims) {
  std::vector<int64_t> strides(dims.size());
  int64_t stride = 1;
  for (size_t axis = dims.size(); axis-- > 0; stride *= dims[axis]) strides[axis] = stride;
  return strides;
}

// Gives the caller its own copy, to be released with delete[]; that is how torch_npu treats what it gets.
aclnnStatus HandOut(const std::vector<int64_t>& values, int64_t** copy, uint64_t* count) {
  *copy = new int64_t[values.size()];
  std::copy(values.begin(), values.end(), *copy);
  *count = values.size();
  return ACL_SUCCESS;
}

template <class Result, class Object>
aclnnStatus Give(const Object* object, Result* result, Result value) {
  if (object == nullptr || result == nullptr) {
    return Fail(ACL_ERROR_INVALID_PARAM, "a handle or the place for a result is null");
  }
  *result = value;
  return ACL_SUCCESS;
}

template <class Object>
aclnnStatus Destroy(const Object* object) {
  delete object;
  return ACL_SUCCESS;
}

}  // namespace

aclTensor* aclCreateTensor(const int64_t* viewDims, uint64_t viewRank, aclDataType dtype,
                           const int64_t* strides, int64_t offset, aclFormat format,
                           const int64_t* storageDims, uint64_t storageRank, void* data) {
  auto* tensor = new aclTensor;
  tensor->dtype = dtype;
  tensor->format = format;
  tensor->viewDims = Copied(viewDims, viewRank);
  tensor->strides = strides == nullptr ? ContiguousStrides(tensor->viewDims) : Copied(strides, viewRank);
  tensor->offset = offset;
  tensor->storageDims = Copied(storageDims, storageRank);
  tensor->data = data;
  return tensor;
}

aclScalar* aclCreateScalar(void* value, aclDataType dtype) {
  const size_t bytes = aclDataTypeSize(dtype);
  auto* scalar = new aclScalar;
  if (value == nullptr || bytes == 0 || bytes > scalar->value.size()) {
    delete scalar;
    Fail(ACL_ERROR_INVALID_PARAM, "aclCreateScalar: no value, or a type that scalars cannot have");
    return nullptr;
  }
  scalar->dtype = dtype;
  std::memcpy(scalar->value.data(), value, bytes);
  return scalar;
}

aclIntArray* aclCreateIntArray(const int64_t* values, uint64_t size) {
  return new aclIntArray{Copied(values, size)};
}

aclFloatArray* aclCreateFloatArray(const float* values, uint64_t size) {
  return values == nullptr ? new aclFloatArray : new aclFloatArray{{values, values + size}};
}

aclBoolArray* aclCreateBoolArray(const bool* values, uint64_t size) {
  return values == nullptr ? new aclBoolArray : new aclBoolArray{{values, values + size}};
}

aclTensorList* aclCreateTensorList(const aclTensor* const* tensors, uint64_t size) {
  return tensors == nullptr ? new aclTensorList : new aclTensorList{{tensors, tensors + size}};
}

aclScalarList* aclCreateScalarList(const aclScalar* const* scalars, uint64_t size) {
  return scalars == nullptr ? new aclScalarList : new aclScalarList{{scalars, scalars + size}};
}

aclnnStatus aclDestroyTensor(const aclTensor* tensor) { return Destroy(tensor); }
aclnnStatus aclDestroyScalar(const aclScalar* scalar) { return Destroy(scalar); }
aclnnStatus aclDestroyIntArray(const aclIntArray* array) { return Destroy(array); }
aclnnStatus aclDestroyFloatArray(const aclFloatArray* array) { return Destroy(array); }
aclnnStatus aclDestroyBoolArray(const aclBoolArray* array) { return Destroy(array); }
aclnnStatus aclDestroyAclOpExecutor(aclOpExecutor* executor) { return Destroy(executor); }

aclnnStatus aclDestroyTensorList(const aclTensorList* list) {
  if (list == nullptr) return ACL_SUCCESS;
  for (const aclTensor* tensor : list->tensors) delete tensor;
  return Destroy(list);
}

aclnnStatus aclDestroyScalarList(const aclScalarList* list) {
  if (list == nullptr) return ACL_SUCCESS;
  for (const aclScalar* scalar : list->scalars) delete scalar;
  return Destroy(list);
}

aclnnStatus aclGetViewShape(const aclTensor* tensor, int64_t** dims, uint64_t* rank) {
  if (tensor == nullptr || dims == nullptr || rank == nullptr) {
    return Fail(ACL_ERROR_INVALID_PARAM, "aclGetViewShape: no tensor or no result");
  }
  return HandOut(tensor->viewDims, dims, rank);
}

aclnnStatus aclGetStorageShape(const aclTensor* tensor, int64_t** dims, uint64_t* rank) {
  if (tensor == nullptr || dims == nullptr || rank == nullptr) {
    return Fail(ACL_ERROR_INVALID_PARAM, "aclGetStorageShape: no tensor or no result");
  }
  return HandOut(tensor->storageDims, dims, rank);
}

aclnnStatus aclGetViewStrides(const aclTensor* tensor, int64_t** strides, uint64_t* rank) {
  if (tensor == nullptr || strides == nullptr || rank == nullptr) {
    return Fail(ACL_ERROR_INVALID_PARAM, "aclGetViewStrides: no tensor or no result");
  }
  return HandOut(tensor->strides, strides, rank);
}

aclnnStatus aclGetViewOffset(const aclTensor* tensor, int64_t* offset) {
  return Give(tensor, offset, tensor == nullptr ? 0 : tensor->offset);
}

aclnnStatus aclGetFormat(const aclTensor* tensor, aclFormat* format) {
  return Give(tensor, format, tensor == nullptr ? ACL_FORMAT_UNDEFINED : tensor->format);
}

aclnnStatus aclGetDataType(const aclTensor* tensor, aclDataType* dtype) {
  return Give(tensor, dtype, tensor == nullptr ? ACL_DT_UNDEFINED : tensor->dtype);
}

aclnnStatus aclGetRawTensorAddr(const aclTensor* tensor, void** data) {
  return Give(tensor, data, tensor == nullptr ? nullptr : tensor->data);
}

aclnnStatus aclSetRawTensorAddr(aclTensor* tensor, void* data) {
  if (tensor == nullptr) return Fail(ACL_ERROR_INVALID_PARAM, "aclSetRawTensorAddr: no tensor");
  tensor->data = data;
  return ACL_SUCCESS;
}

aclnnStatus aclGetIntArraySize(const aclIntArray* array, uint64_t* size) {
  return Give(array, size, array == nullptr ? uint64_t{0} : array->values.size());
}

aclnnStatus aclGetFloatArraySize(const aclFloatArray* array, uint64_t* size) {
  return Give(array, size, array == nullptr ? uint64_t{0} : array->values.size());
}

aclnnStatus aclGetBoolArraySize(const aclBoolArray* array, uint64_t* size) {
  return Give(array, size, array == nullptr ? uint64_t{0} : array->values.size());
}

aclnnStatus aclGetTensorListSize(const aclTensorList* list, uint64_t* size) {
  return Give(list, size, list == nullptr ? uint64_t{0} : list->tensors.size());
}

aclnnStatus aclGetScalarListSize(const aclScalarList* list, uint64_t* size) {
  return Give(list, size, list == nullptr ? uint64_t{0} : list->scalars.size());
}

// Nothing has to be made ready or put away.
aclnnStatus aclnnInit(const char*) { return ACL_SUCCESS; }

aclnnStatus aclnnFinalize() { return ACL_SUCCESS; }
