#include <pthread.h>

#include <cstring>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "acl/acl_op_compiler.h"
#include "aclnn/aclnn_base.h"
#include "check.h"
#include "runtime/error.h"
#include "tensor/descriptors.h"

namespace {

using Dims = std::vector<int64_t>;

template <class Getter>
Dims Read(Getter getter, const aclTensor* tensor) {
  int64_t* values = nullptr;
  uint64_t count = 0;
  CHECK_OK(getter(tensor, &values, &count));
  const std::unique_ptr<int64_t[]> owned(values);
  return {values, values + count};
}

void ATensorKeepsWhatItWasMadeOf() {
  const Dims view = {2, 3};
  const Dims strides = {1, 2};
  const Dims storage = {6};
  float data[8] = {};
  aclTensor* tensor =
      aclCreateTensor(view.data(), 2, ACL_FLOAT, strides.data(), 2, ACL_FORMAT_ND, storage.data(), 1, data);
  CHECK(Read(aclGetViewShape, tensor) == view);
  CHECK(Read(aclGetViewStrides, tensor) == strides);
  CHECK(Read(aclGetStorageShape, tensor) == storage);
  int64_t offset = 0;
  aclDataType dtype = ACL_DT_UNDEFINED;
  aclFormat format = ACL_FORMAT_UNDEFINED;
  void* address = nullptr;
  CHECK_OK(aclGetViewOffset(tensor, &offset));
  CHECK_OK(aclGetDataType(tensor, &dtype));
  CHECK_OK(aclGetFormat(tensor, &format));
  CHECK_OK(aclGetRawTensorAddr(tensor, &address));
  CHECK(offset == 2 && dtype == ACL_FLOAT && format == ACL_FORMAT_ND && address == data);
  CHECK_OK(aclDestroyTensor(tensor));
  CHECK(aclGetViewOffset(nullptr, &offset) == ACL_ERROR_INVALID_PARAM);
}

void MissingStridesAreContiguous() {
  const Dims view = {2, 3, 4};
  aclTensor* tensor =
      aclCreateTensor(view.data(), 3, ACL_INT8, nullptr, 0, ACL_FORMAT_ND, view.data(), 3, nullptr);
  CHECK(Read(aclGetViewStrides, tensor) == Dims({12, 4, 1}));
  aclTensorList* list = aclCreateTensorList(&tensor, 1);
  uint64_t size = 0;
  CHECK_OK(aclGetTensorListSize(list, &size));
  CHECK(size == 1 && list->tensors[0] == tensor);
  CHECK_OK(aclDestroyTensorList(list));  // and the tensor with it
}

void ScalarsAndArraysKeepTheirValues() {
  double number = 2.5;
  aclScalar* scalar = aclCreateScalar(&number, ACL_DOUBLE);
  double back = 0;
  std::memcpy(&back, scalar->value.data(), sizeof(back));
  CHECK(back == number && scalar->dtype == ACL_DOUBLE);
  CHECK(aclCreateScalar(&number, ACL_STRING) == nullptr);
  CHECK_OK(aclDestroyScalar(scalar));

  const Dims numbers = {1, 2, 3};
  const bool flags[] = {true, false};
  aclIntArray* integers = aclCreateIntArray(numbers.data(), 3);
  aclBoolArray* booleans = aclCreateBoolArray(flags, 2);
  CHECK(integers->values == numbers);
  CHECK(booleans->values == std::vector<uint8_t>({1, 0}));
  CHECK_OK(aclDestroyIntArray(integers));
  CHECK_OK(aclDestroyBoolArray(booleans));
}

std::string RecentMessage() {
  const char* message = aclGetRecentErrMsg();
  return message == nullptr ? "" : message;
}

void AnErrorOnTheTaskQueueFailsTheDevice() {
  CHECK_OK(aclrtSetDevice(0));
  CHECK_OK(aclrtSynchronizeStream(nullptr));
  std::thread([] {
    CHECK_OK(aclrtSetDevice(0));
    CHECK(simulator::FailOperator(ACL_ERROR_FEATURE_UNSUPPORTED, "Conv8D") == ACL_ERROR_FEATURE_UNSUPPORTED);
    CHECK_OK(aclrtSynchronizeDevice());
    pthread_setname_np(pthread_self(), "acl_thread");
    CHECK(simulator::FailOperator(ACL_ERROR_FEATURE_UNSUPPORTED, "Conv9D") == ACL_ERROR_FEATURE_UNSUPPORTED);
  }).join();
  aclrtEvent event = nullptr;
  CHECK_OK(aclrtCreateEvent(&event));
  CHECK(aclrtSynchronizeEvent(event) == ACL_ERROR_FEATURE_UNSUPPORTED);
  CHECK(aclrtSynchronizeDevice() == ACL_ERROR_FEATURE_UNSUPPORTED);
  CHECK(aclrtSynchronizeStream(nullptr) == ACL_ERROR_FEATURE_UNSUPPORTED);
  CHECK(RecentMessage().find("Conv9D") != std::string::npos);
  CHECK_OK(aclrtResetDeviceForce(0));
  CHECK_OK(aclrtSetDevice(0));
  CHECK_OK(aclrtSynchronizeStream(nullptr));
}

void CompileOptionsCanBeReadBack() {
  char value[32] = {};
  CHECK_OK(aclSetCompileopt(ACL_PRECISION_MODE, "must_keep_origin_dtype"));
  CHECK(aclGetCompileoptSize(ACL_PRECISION_MODE) == sizeof("must_keep_origin_dtype"));
  CHECK_OK(aclGetCompileopt(ACL_PRECISION_MODE, value, sizeof(value)));
  CHECK(std::string(value) == "must_keep_origin_dtype");
  CHECK(aclGetCompileopt(ACL_PRECISION_MODE, value, 3) == ACL_ERROR_INVALID_PARAM);
}

}  // namespace

int main() {
  ATensorKeepsWhatItWasMadeOf();
  MissingStridesAreContiguous();
  ScalarsAndArraysKeepTheirValues();
  AnErrorOnTheTaskQueueFailsTheDevice();
  CompileOptionsCanBeReadBack();
  return checks::Result();
}
