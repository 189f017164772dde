#include <cstddef>
#include <memory>
#include <mutex>
#include <utility>

#include "mspti.h"
#include "mspti/buffers.h"
#include "mspti/collector.h"
#include "mspti/correlation.h"

using namespace simulator;
using namespace simulator::mspti;

namespace {

// Never destroyed: streams may still run tasks while the process exits.
Buffers& TheBuffers() {
  static auto* buffers = new Buffers;
  return *buffers;
}

struct Subscription {
  std::mutex mutex;
  std::shared_ptr<Collector> collector;  // its address is the handle
};

Subscription& TheSubscription() {
  static auto* subscription = new Subscription;
  return *subscription;
}

// 0 for what is no record.
size_t SizeOf(msptiActivityKind kind) {
  switch (kind) {
    case MSPTI_ACTIVITY_KIND_KERNEL:
      return sizeof(msptiActivityKernel);
    case MSPTI_ACTIVITY_KIND_COMMUNICATION:
      return sizeof(msptiActivityCommunication);
    case MSPTI_ACTIVITY_KIND_ACL_API:
      return sizeof(msptiActivityApi);
    case MSPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION:
      return sizeof(msptiActivityExternalCorrelation);
    default:
      return 0;
  }
}

}  // namespace

// Callbacks on calls of the runtime are not implemented; torch_npu gives none.
msptiResult msptiSubscribe(msptiSubscriberHandle* subscriber, msptiCallbackFunc callback,
                           void* /*userdata*/) {
  if (subscriber == nullptr || callback != nullptr) return MSPTI_ERROR_INVALID_PARAMETER;
  Subscription& subscription = TheSubscription();
  const std::lock_guard<std::mutex> lock(subscription.mutex);
  if (subscription.collector != nullptr) return MSPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
  subscription.collector = std::make_shared<Collector>(TheBuffers());
  Listen(subscription.collector);
  *subscriber = reinterpret_cast<msptiSubscriberHandle>(subscription.collector.get());
  return MSPTI_SUCCESS;
}

msptiResult msptiUnsubscribe(msptiSubscriberHandle subscriber) {
  Subscription& subscription = TheSubscription();
  const std::lock_guard<std::mutex> lock(subscription.mutex);
  if (subscription.collector == nullptr ||
      subscriber != reinterpret_cast<msptiSubscriberHandle>(subscription.collector.get())) {
    return MSPTI_ERROR_INVALID_PARAMETER;
  }
  StopListening(*subscription.collector);
  subscription.collector.reset();
  return MSPTI_SUCCESS;
}

msptiResult msptiActivityRegisterCallbacks(msptiBuffersCallbackRequestFunc requested,
                                           msptiBuffersCallbackCompleteFunc completed) {
  if (requested == nullptr || completed == nullptr) return MSPTI_ERROR_INVALID_PARAMETER;
  TheBuffers().SetCallbacks({requested, completed});
  return MSPTI_SUCCESS;
}

msptiResult msptiActivityEnable(msptiActivityKind kind) {
  if (!IsCollected(kind)) return MSPTI_ERROR_INVALID_PARAMETER;
  Enabled(kind) = true;
  return MSPTI_SUCCESS;
}

msptiResult msptiActivityDisable(msptiActivityKind kind) {
  if (!IsCollected(kind)) return MSPTI_ERROR_INVALID_PARAMETER;
  Enabled(kind) = false;
  return MSPTI_SUCCESS;
}

bool msptiActivityIsEnabled(msptiActivityKind kind) { return IsCollected(kind) && Enabled(kind); }

msptiResult msptiActivityGetNextRecord(uint8_t* buffer, size_t validBytes, msptiActivity** record) {
  if (buffer == nullptr || record == nullptr) return MSPTI_ERROR_INVALID_PARAMETER;
  uint8_t* next = buffer;
  if (*record != nullptr) next = reinterpret_cast<uint8_t*>(*record) + SizeOf((*record)->kind);
  if (next + sizeof(msptiActivity) > buffer + validBytes) return MSPTI_ERROR_MAX_LIMIT_REACHED;
  *record = reinterpret_cast<msptiActivity*>(next);
  return MSPTI_SUCCESS;
}

msptiResult msptiActivityFlushAll(uint32_t /*flag*/) {
  TheBuffers().Flush();
  return MSPTI_SUCCESS;
}

msptiResult msptiActivityPushExternalCorrelationId(msptiExternalCorrelationKind kind, uint64_t id) {
  if (!IsExternalKind(kind)) return MSPTI_ERROR_INVALID_PARAMETER;
  PushExternal(kind, id);
  return MSPTI_SUCCESS;
}

msptiResult msptiActivityPopExternalCorrelationId(msptiExternalCorrelationKind kind, uint64_t* last) {
  if (!IsExternalKind(kind)) return MSPTI_ERROR_INVALID_PARAMETER;
  const auto id = PopExternal(kind);
  if (!id) return MSPTI_ERROR_QUEUE_EMPTY;
  if (last != nullptr) *last = *id;
  return MSPTI_SUCCESS;
}
