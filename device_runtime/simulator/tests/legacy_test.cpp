// Handles of the older aclop interface keep what they are given.
#include "tensor/legacy.h"

#include <pthread.h>

#include <string>
#include <thread>

#include "acl/acl_op_compiler.h"
#include "check.h"

namespace {

template <typename Value>
bool Holds(aclopAttr* attr, const char* name, const Value& expected) {
  const auto* value = std::get_if<Value>(&attr->values[name]);
  return value != nullptr && *value == expected;
}

void AttributesKeepTheirTypes() {
  aclopAttr* attr = aclopCreateAttr();
  const int64_t numbers[] = {3, 1, 2};
  const int64_t* lists[] = {numbers, numbers + 1};
  const int counts[] = {1, 2};
  CHECK(aclopSetAttrBool(attr, "flag", 1) == ACL_SUCCESS);
  CHECK(aclopSetAttrInt(attr, "number", 7) == ACL_SUCCESS);
  CHECK(aclopSetAttrString(attr, "text", "SAME") == ACL_SUCCESS);
  CHECK(aclopSetAttrListInt(attr, "list", 3, numbers) == ACL_SUCCESS);
  CHECK(aclopSetAttrListListInt(attr, "lists", 2, counts, lists) == ACL_SUCCESS);
  CHECK(Holds(attr, "flag", true));
  CHECK(Holds(attr, "number", int64_t{7}));
  CHECK(Holds(attr, "text", std::string("SAME")));
  CHECK(Holds(attr, "list", std::vector<int64_t>({3, 1, 2})));
  CHECK(Holds(attr, "lists", std::vector<std::vector<int64_t>>({{3}, {1, 2}})));
  aclopDestroyAttr(attr);
}

void AttributesWithoutANameOrValuesAreRefused() {
  aclopAttr* attr = aclopCreateAttr();
  CHECK(aclopSetAttrInt(attr, nullptr, 1) == ACL_ERROR_INVALID_PARAM);
  CHECK(aclopSetAttrInt(nullptr, "number", 1) == ACL_ERROR_INVALID_PARAM);
  CHECK(aclopSetAttrListInt(attr, "list", 2, nullptr) == ACL_ERROR_INVALID_PARAM);
  CHECK(attr->values.empty());
  aclopDestroyAttr(attr);
}

void TheShapeOfAPrivateFormatIsKeptBesideTheShape() {
  const int64_t dims[] = {4, 5};
  const int64_t stored[] = {1, 1, 16, 16};
  aclTensorDesc* desc = aclCreateTensorDesc(ACL_FLOAT, 2, dims, ACL_FORMAT_ND);
  CHECK(aclSetTensorShape(desc, 4, stored) == ACL_SUCCESS);
  CHECK(aclGetTensorDescNumDims(desc) == 2);
  CHECK(desc->storageDims.size() == 4);
  aclDestroyTensorDesc(desc);
}

aclError Execute(const char* type, aclrtStream stream) {
  return aclopCompileAndExecute(type, 0, nullptr, nullptr, 0, nullptr, nullptr, nullptr, ACL_ENGINE_SYS,
                                ACL_COMPILE_SYS, nullptr, stream);
}

bool IsRefusal() {
  const char* message = aclGetRecentErrMsg();
  return message != nullptr && std::string(message) ==
                                   "[simulated CANN] operator Conv9D, of the old aclop "
                                   "interface, is not implemented by the simulated CANN";
}

void AnOperatorIsRefusedByName() {
  CHECK(Execute("Conv9D", nullptr) == ACL_ERROR_FEATURE_UNSUPPORTED);
  CHECK(IsRefusal());
  CHECK_OK(aclrtSynchronizeDevice());
}

void OnTheTaskQueueARefusalFailsTheStream() {
  aclrtStream stream = nullptr;
  aclrtEvent event = nullptr;
  CHECK_OK(aclrtCreateStream(&stream));
  CHECK_OK(aclrtSetStreamFailureMode(stream, ACL_STOP_ON_FAILURE));
  CHECK_OK(aclrtCreateEventExWithFlag(&event, ACL_EVENT_SYNC));
  std::thread([&] {
    pthread_setname_np(pthread_self(), "acl_thread");
    CHECK_OK(aclrtSetDevice(0));
    CHECK_OK(Execute("Conv9D", stream));
    CHECK_OK(aclrtRecordEvent(event, stream));
  }).join();
  CHECK(aclrtSynchronizeEvent(event) == ACL_ERROR_FEATURE_UNSUPPORTED);
  CHECK(IsRefusal());
  CHECK(aclrtSynchronizeStream(stream) == ACL_ERROR_FEATURE_UNSUPPORTED);
  CHECK_OK(aclrtDestroyEvent(event));
  CHECK_OK(aclrtDestroyStream(stream));
}

}  // namespace

int main() {
  CHECK_OK(aclrtSetDevice(0));
  AnOperatorIsRefusedByName();
  OnTheTaskQueueARefusalFailsTheStream();
  AttributesKeepTheirTypes();
  AttributesWithoutANameOrValuesAreRefused();
  TheShapeOfAPrivateFormatIsKeptBesideTheShape();
  return checks::Result();
}
