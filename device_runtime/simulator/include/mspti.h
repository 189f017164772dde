#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// The tracing interface that torch.profiler gets its device events from, after the headers that torch_npu is
// built with (third_party/mspti of Ascend/pytorch) and, for msptiActivityApi, MindStudio's documentation.

#ifdef __cplusplus
extern "C" {
#endif

#define MSPTI_VISIBILITY __attribute__((visibility("default")))
#define MSPTI_RECORD __attribute__((__packed__)) __attribute__((aligned(8)))

typedef enum {
  MSPTI_SUCCESS = 0,
  MSPTI_ERROR_INVALID_PARAMETER = 1,
  MSPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED = 2,
  MSPTI_ERROR_MAX_LIMIT_REACHED = 3,
  MSPTI_ERROR_QUEUE_EMPTY = 5,
} msptiResult;

typedef enum {
  MSPTI_ACTIVITY_KIND_INVALID = 0,
  MSPTI_ACTIVITY_KIND_MARKER = 1,
  MSPTI_ACTIVITY_KIND_KERNEL = 2,
  MSPTI_ACTIVITY_KIND_API = 3,
  MSPTI_ACTIVITY_KIND_HCCL = 4,
  MSPTI_ACTIVITY_KIND_MEMORY = 5,
  MSPTI_ACTIVITY_KIND_MEMSET = 6,
  MSPTI_ACTIVITY_KIND_MEMCPY = 7,
  MSPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION = 8,
  MSPTI_ACTIVITY_KIND_COMMUNICATION = 9,
  MSPTI_ACTIVITY_KIND_ACL_API = 10,
} msptiActivityKind;

typedef enum {
  MSPTI_EXTERNAL_CORRELATION_KIND_INVALID = 0,
  MSPTI_EXTERNAL_CORRELATION_KIND_UNKNOWN = 1,
  MSPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0 = 2,
  MSPTI_EXTERNAL_CORRELATION_KIND_CUSTOM1 = 3,
  MSPTI_EXTERNAL_CORRELATION_KIND_CUSTOM2 = 4,
  MSPTI_EXTERNAL_CORRELATION_KIND_SIZE = 5,
} msptiExternalCorrelationKind;

typedef enum { MSPTI_ACTIVITY_COMMUNICATION_INVALID_TYPE = 0x0000FFFF } msptiCommunicationDataType;

typedef struct MSPTI_RECORD {
  msptiActivityKind kind;
} msptiActivity;

// Times are nanoseconds since the epoch.
typedef struct MSPTI_RECORD {
  msptiActivityKind kind;
  uint64_t start;
  uint64_t end;
  struct {
    uint32_t deviceId;
    uint32_t streamId;
  } ds;
  uint64_t correlationId;
  const char* type;
  const char* name;
} msptiActivityKernel;

typedef struct MSPTI_RECORD {
  msptiActivityKind kind;
  msptiCommunicationDataType dataType;
  uint64_t count;
  struct {
    uint32_t deviceId;
    uint32_t streamId;
  } ds;
  uint64_t start;
  uint64_t end;
  const char* algType;
  const char* name;
  const char* commName;
  uint64_t correlationId;
} msptiActivityCommunication;

typedef struct MSPTI_RECORD {
  msptiActivityKind kind;
  uint64_t start;
  uint64_t end;
  struct {
    uint32_t processId;
    uint32_t threadId;
  } pt;
  uint64_t correlationId;
  const char* name;
} msptiActivityApi;

typedef struct MSPTI_RECORD {
  msptiActivityKind kind;
  msptiExternalCorrelationKind externalKind;
  uint64_t externalId;
  uint64_t correlationId;
} msptiActivityExternalCorrelation;

typedef void (*msptiBuffersCallbackRequestFunc)(uint8_t** buffer, size_t* size, size_t* maxNumRecords);
typedef void (*msptiBuffersCallbackCompleteFunc)(uint8_t* buffer, size_t size, size_t validSize);

typedef struct msptiSubscriber_st* msptiSubscriberHandle;
typedef void (*msptiCallbackFunc)(void* userdata, int domain, uint32_t id, const void* data);

MSPTI_VISIBILITY msptiResult msptiSubscribe(msptiSubscriberHandle* subscriber, msptiCallbackFunc callback,
                                            void* userdata);
MSPTI_VISIBILITY msptiResult msptiUnsubscribe(msptiSubscriberHandle subscriber);
MSPTI_VISIBILITY msptiResult msptiActivityRegisterCallbacks(msptiBuffersCallbackRequestFunc requested,
                                                            msptiBuffersCallbackCompleteFunc completed);
MSPTI_VISIBILITY msptiResult msptiActivityEnable(msptiActivityKind kind);
MSPTI_VISIBILITY msptiResult msptiActivityDisable(msptiActivityKind kind);
MSPTI_VISIBILITY bool msptiActivityIsEnabled(msptiActivityKind kind);
MSPTI_VISIBILITY msptiResult msptiActivityGetNextRecord(uint8_t* buffer, size_t validBytes,
                                                        msptiActivity** record);
MSPTI_VISIBILITY msptiResult msptiActivityFlushAll(uint32_t flag);
MSPTI_VISIBILITY msptiResult msptiActivityPushExternalCorrelationId(msptiExternalCorrelationKind kind,
                                                                    uint64_t id);
MSPTI_VISIBILITY msptiResult msptiActivityPopExternalCorrelationId(msptiExternalCorrelationKind kind,
                                                                   uint64_t* last);

#ifdef __cplusplus
}
#endif
