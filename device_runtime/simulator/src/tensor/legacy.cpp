#include "tensor/legacy.h"

#include "runtime/error.h"

using simulator::Fail;

aclDataBuffer* aclCreateDataBuffer(void* data, size_t bytes) { return new aclDataBuffer{data, bytes}; }

aclError aclDestroyDataBuffer(const aclDataBuffer* buffer) {
  delete buffer;
  return ACL_SUCCESS;
}

void* aclGetDataBufferAddr(const aclDataBuffer* buffer) { return buffer == nullptr ? nullptr : buffer->data; }

size_t aclGetDataBufferSizeV2(const aclDataBuffer* buffer) { return buffer == nullptr ? 0 : buffer->bytes; }

aclTensorDesc* aclCreateTensorDesc(aclDataType dtype, int rank, const int64_t* dims, aclFormat format) {
  if (rank < 0 || (rank > 0 && dims == nullptr)) return nullptr;
  return new aclTensorDesc{dtype, format, std::vector<int64_t>(dims, dims + rank), {}, {}};
}

void aclDestroyTensorDesc(const aclTensorDesc* desc) { delete desc; }

aclDataType aclGetTensorDescType(const aclTensorDesc* desc) {
  return desc == nullptr ? ACL_DT_UNDEFINED : desc->dtype;
}

aclFormat aclGetTensorDescFormat(const aclTensorDesc* desc) {
  return desc == nullptr ? ACL_FORMAT_UNDEFINED : desc->format;
}

size_t aclGetTensorDescNumDims(const aclTensorDesc* desc) { return desc == nullptr ? 0 : desc->dims.size(); }

aclError aclGetTensorDescDimV2(const aclTensorDesc* desc, size_t index, int64_t* size) {
  if (desc == nullptr || size == nullptr || index >= desc->dims.size()) {
    return Fail(ACL_ERROR_INVALID_PARAM, "aclGetTensorDescDimV2: no such dimension");
  }
  *size = desc->dims[index];
  return ACL_SUCCESS;
}

void aclSetTensorDescName(aclTensorDesc* desc, const char* name) {
  if (desc != nullptr) desc->name = name == nullptr ? "" : name;
}

aclError aclSetTensorFormat(aclTensorDesc* desc, aclFormat format) {
  if (desc == nullptr) return Fail(ACL_ERROR_INVALID_PARAM, "aclSetTensorFormat: desc is null");
  desc->format = format;
  return ACL_SUCCESS;
}

aclError aclSetTensorShape(aclTensorDesc* desc, int rank, const int64_t* dims) {
  if (desc == nullptr || rank < 0 || (rank > 0 && dims == nullptr)) {
    return Fail(ACL_ERROR_INVALID_PARAM, "aclSetTensorShape: no descriptor or no shape");
  }
  desc->storageDims.assign(dims, dims + rank);
  return ACL_SUCCESS;
}

aclError aclSetTensorPlaceMent(aclTensorDesc* desc, aclMemType place) {
  if (desc == nullptr) return Fail(ACL_ERROR_INVALID_PARAM, "aclSetTensorPlaceMent: desc is null");
  desc->onHost = place != ACL_MEMTYPE_DEVICE;
  return ACL_SUCCESS;
}

size_t aclDataTypeSize(aclDataType dtype) {
  switch (dtype) {
    case ACL_INT8:
    case ACL_UINT8:
    case ACL_BOOL:
    case ACL_HIFLOAT8:
    case ACL_FLOAT8_E5M2:
    case ACL_FLOAT8_E4M3FN:
    case ACL_FLOAT8_E8M0:
      return 1;
    case ACL_FLOAT16:
    case ACL_BF16:
    case ACL_INT16:
    case ACL_UINT16:
      return 2;
    case ACL_FLOAT:
    case ACL_INT32:
    case ACL_UINT32:
    case ACL_COMPLEX32:
      return 4;
    case ACL_DOUBLE:
    case ACL_INT64:
    case ACL_UINT64:
    case ACL_COMPLEX64:
      return 8;
    case ACL_COMPLEX128:
      return 16;
    default:
      return 0;  // unknown, or less than a byte
  }
}
