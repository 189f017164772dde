#include "mspti.h"

#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "acl/acl_rt.h"
#include "check.h"
#include "runtime/activity.h"
#include "runtime/stream.h"

using namespace simulator;

namespace {

size_t bufferSize = 4096;
std::vector<std::string> seen;
std::vector<uint64_t> kernels;       // correlation ids
std::vector<uint64_t> correlations;  // likewise, of external id 77
int buffersOut = 0;

void Request(uint8_t** buffer, size_t* size, size_t* most) {
  *buffer = static_cast<uint8_t*>(std::malloc(bufferSize));
  *size = bufferSize;
  *most = 0;
  ++buffersOut;
}

void Note(const msptiActivity* record) {
  if (record->kind == MSPTI_ACTIVITY_KIND_KERNEL) {
    msptiActivityKernel kernel;
    std::memcpy(&kernel, record, sizeof(kernel));
    const char* name = kernel.name;  // a packed field cannot be bound to
    seen.emplace_back(name);
    kernels.push_back(kernel.correlationId);
    CHECK(std::string(kernel.type) == "Add");
    CHECK(kernel.start > 1'700'000'000'000'000'000 && kernel.start <= kernel.end);
  }
  if (record->kind == MSPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION) {
    msptiActivityExternalCorrelation correlation;
    std::memcpy(&correlation, record, sizeof(correlation));
    if (correlation.externalId == 77) correlations.push_back(correlation.correlationId);
  }
}

void Complete(uint8_t* buffer, size_t size, size_t valid) {
  CHECK(valid <= size);
  msptiActivity* record = nullptr;
  while (msptiActivityGetNextRecord(buffer, valid, &record) == MSPTI_SUCCESS) Note(record);
  std::free(buffer);
  --buffersOut;
}

void RunOneOperator() {
  const auto describe = [] { return Activity{ActivityKind::kOperator, "aclnnAdd", 0, {}, {}}; };
  CHECK_OK(Enqueue(nullptr, Observed(describe, [] { return ACL_SUCCESS; })));
}

void Forget() {
  seen.clear();
  kernels.clear();
  correlations.clear();
}

void AKernelLeadsBackToWhatTheCallerSaidItWasDoing() {
  msptiSubscriberHandle subscriber = nullptr;
  CHECK(msptiSubscribe(&subscriber, nullptr, nullptr) == MSPTI_SUCCESS);
  CHECK(msptiSubscribe(&subscriber, nullptr, nullptr) == MSPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED);
  CHECK(msptiActivityRegisterCallbacks(Request, Complete) == MSPTI_SUCCESS);
  CHECK(msptiActivityEnable(MSPTI_ACTIVITY_KIND_KERNEL) == MSPTI_SUCCESS);
  CHECK(msptiActivityEnable(MSPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION) == MSPTI_SUCCESS);
  CHECK(msptiActivityPushExternalCorrelationId(MSPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0, 77) == MSPTI_SUCCESS);
  RunOneOperator();
  uint64_t popped = 0;
  CHECK(msptiActivityPopExternalCorrelationId(MSPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0, &popped) ==
        MSPTI_SUCCESS);
  CHECK(popped == 77);
  CHECK(msptiActivityPopExternalCorrelationId(MSPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0, &popped) ==
        MSPTI_ERROR_QUEUE_EMPTY);
  RunOneOperator();
  CHECK_OK(aclrtSynchronizeStream(nullptr));
  CHECK(msptiActivityFlushAll(1) == MSPTI_SUCCESS);
  CHECK(kernels.size() == 2 && correlations.size() == 1);
  CHECK(correlations.front() == kernels.front());
  CHECK(msptiActivityDisable(MSPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION) == MSPTI_SUCCESS);
  CHECK(msptiUnsubscribe(subscriber) == MSPTI_SUCCESS);
  CHECK(msptiUnsubscribe(subscriber) == MSPTI_ERROR_INVALID_PARAMETER);
  Forget();
}

void NoRecordIsLostWhenBuffersAreSmall() {
  constexpr size_t kCount = 500;
  bufferSize = 3 * sizeof(msptiActivityKernel) + 8;
  msptiSubscriberHandle subscriber = nullptr;
  CHECK(msptiSubscribe(&subscriber, nullptr, nullptr) == MSPTI_SUCCESS);
  for (size_t number = 0; number < kCount; ++number) RunOneOperator();
  CHECK_OK(aclrtSynchronizeStream(nullptr));
  CHECK(msptiUnsubscribe(subscriber) == MSPTI_SUCCESS);
  CHECK(msptiActivityFlushAll(1) == MSPTI_SUCCESS);
  CHECK(seen.size() == kCount);
  CHECK(buffersOut == 0);
  RunOneOperator();
  CHECK_OK(aclrtSynchronizeStream(nullptr));
  CHECK(msptiActivityFlushAll(1) == MSPTI_SUCCESS);
  CHECK(seen.size() == kCount);  // nobody subscribes any more
}

void WhatIsNotCollectedCannotBeEnabled() {
  CHECK(msptiActivityEnable(MSPTI_ACTIVITY_KIND_MARKER) == MSPTI_ERROR_INVALID_PARAMETER);
  CHECK(!msptiActivityIsEnabled(MSPTI_ACTIVITY_KIND_MARKER));
  CHECK(msptiActivityIsEnabled(MSPTI_ACTIVITY_KIND_KERNEL));
}

}  // namespace

int main() {
  CHECK_OK(aclInit(nullptr));
  CHECK_OK(aclrtSetDevice(0));
  AKernelLeadsBackToWhatTheCallerSaidItWasDoing();
  NoRecordIsLostWhenBuffersAreSmall();
  WhatIsNotCollectedCannotBeEnabled();
  CHECK_OK(aclFinalize());
  return checks::Result();
}
