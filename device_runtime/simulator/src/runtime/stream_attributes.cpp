#include <memory>
#include <string>

#include "acl/acl_rt.h"
#include "runtime/boundary.h"
#include "runtime/context.h"
#include "runtime/error.h"
#include "runtime/queue.h"

// What a stream was told and says again. The simulation runs all streams alike, whatever their priority.

namespace simulator {
namespace {

constexpr int32_t kLeastPriority = 7;
constexpr int32_t kGreatestPriority = 0;

aclError Unknown(const char* call, aclrtStreamAttr attribute) {
  return Fail(ACL_ERROR_RT_PARAM_INVALID,
              std::string(call) + ": there is no attribute " + std::to_string(attribute));
}

aclError Set(Stream& stream, aclrtStreamAttr attribute, const aclrtStreamAttrValue& value) {
  switch (attribute) {
    case ACL_STREAM_ATTR_USER_CUSTOM_TAG:
      stream.Change([&](StreamSettings& settings) { settings.tag = value.userCustomTag; });
      return ACL_SUCCESS;
    case ACL_STREAM_ATTR_CACHE_OP_INFO:
      stream.Change([&](StreamSettings& settings) { settings.cacheOperators = value.cacheOpInfoSwitch; });
      return ACL_SUCCESS;
    case ACL_STREAM_ATTR_PRIORITY:
      if (value.streamPriority > kLeastPriority) {
        return Fail(ACL_ERROR_RT_PARAM_INVALID, "a stream has a priority from 0 to 7");
      }
      stream.Change([&](StreamSettings& settings) { settings.priority = value.streamPriority; });
      return ACL_SUCCESS;
    default:
      return Unknown("aclrtSetStreamAttribute", attribute);
  }
}

aclError Get(aclrtStream handle, const Stream& stream, aclrtStreamAttr attribute,
             aclrtStreamAttrValue* value) {
  const StreamSettings settings = stream.Settings();
  *value = {};
  switch (attribute) {
    case ACL_STREAM_ATTR_FAILURE_MODE:
      value->failureMode = stream.StopsOnFailure() ? ACL_STOP_ON_FAILURE : ACL_CONTINUE_ON_FAILURE;
      return ACL_SUCCESS;
    case ACL_STREAM_ATTR_FLOAT_OVERFLOW_CHECK:
      return aclrtGetStreamOverflowSwitch(handle, &value->overflowSwitch);
    case ACL_STREAM_ATTR_USER_CUSTOM_TAG:
      value->userCustomTag = settings.tag;
      return ACL_SUCCESS;
    case ACL_STREAM_ATTR_CACHE_OP_INFO:
      value->cacheOpInfoSwitch = settings.cacheOperators;
      return ACL_SUCCESS;
    case ACL_STREAM_ATTR_PRIORITY:
      value->streamPriority = settings.priority;
      return ACL_SUCCESS;
  }
  return Unknown("aclrtGetStreamAttribute", attribute);
}

}  // namespace
}  // namespace simulator

using namespace simulator;

aclError aclrtSetStreamAttribute(aclrtStream handle, aclrtStreamAttr attribute, aclrtStreamAttrValue* value) {
  return Guarded("aclrtSetStreamAttribute", [&]() -> aclError {
    std::shared_ptr<Stream> stream;
    if (value == nullptr) return Fail(ACL_ERROR_INVALID_PARAM, "aclrtSetStreamAttribute: value is null");
    if (attribute == ACL_STREAM_ATTR_FAILURE_MODE) {
      return aclrtSetStreamFailureMode(handle, value->failureMode);
    }
    if (attribute == ACL_STREAM_ATTR_FLOAT_OVERFLOW_CHECK) {
      return aclrtSetStreamOverflowSwitch(handle, value->overflowSwitch);
    }
    if (const aclError error = FindStream(handle, &stream)) return error;
    return Set(*stream, attribute, *value);
  });
}

aclError aclrtGetStreamAttribute(aclrtStream handle, aclrtStreamAttr attribute, aclrtStreamAttrValue* value) {
  return Guarded("aclrtGetStreamAttribute", [&]() -> aclError {
    std::shared_ptr<Stream> stream;
    if (value == nullptr) return Fail(ACL_ERROR_INVALID_PARAM, "aclrtGetStreamAttribute: no result");
    if (const aclError error = FindStream(handle, &stream)) return error;
    return Get(handle, *stream, attribute, value);
  });
}

aclError aclrtStreamGetPriority(aclrtStream handle, uint32_t* priority) {
  return Guarded("aclrtStreamGetPriority", [&]() -> aclError {
    std::shared_ptr<Stream> stream;
    if (priority == nullptr) return Fail(ACL_ERROR_INVALID_PARAM, "aclrtStreamGetPriority: no result");
    if (const aclError error = FindStream(handle, &stream)) return error;
    *priority = stream->Settings().priority;
    return ACL_SUCCESS;
  });
}

aclError aclrtStreamGetFlags(aclrtStream handle, uint32_t* flags) {
  return Guarded("aclrtStreamGetFlags", [&]() -> aclError {
    std::shared_ptr<Stream> stream;
    if (flags == nullptr) return Fail(ACL_ERROR_INVALID_PARAM, "aclrtStreamGetFlags: no result");
    if (const aclError error = FindStream(handle, &stream)) return error;
    *flags = stream->Settings().flags;
    return ACL_SUCCESS;
  });
}

aclError aclrtDeviceGetStreamPriorityRange(int32_t* least, int32_t* greatest) {
  if (least == nullptr || greatest == nullptr) {
    return Fail(ACL_ERROR_INVALID_PARAM, "aclrtDeviceGetStreamPriorityRange: no result");
  }
  *least = kLeastPriority;
  *greatest = kGreatestPriority;
  return ACL_SUCCESS;
}
