#include <algorithm>
#include <atomic>
#include <limits>
#include <map>
#include <mutex>
#include <optional>

#include "acl/acl_rt.h"
#include "runtime/boundary.h"
#include "runtime/configuration.h"
#include "runtime/error.h"
#include "runtime/event.h"
#include "runtime/queue.h"
#include "runtime/soc.h"

// Options of the device that change how fast or how exactly it computes. The simulation computes the same
// either way: it keeps them, so that what was set can be read back.

namespace simulator {
namespace {

class SystemParameters {
 public:
  void Set(aclSysParamOpt option, int64_t value) {
    const std::lock_guard<std::mutex> lock(mutex_);
    values_[option] = value;
  }

  std::optional<int64_t> Get(aclSysParamOpt option) const {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto found = values_.find(option);
    return found == values_.end() ? std::nullopt : std::optional(found->second);
  }

 private:
  mutable std::mutex mutex_;
  std::map<aclSysParamOpt, int64_t> values_;
};

SystemParameters& OfTheProcess() {
  static auto* parameters = new SystemParameters;
  return *parameters;
}

SystemParameters& OfTheContext() {
  thread_local SystemParameters parameters;
  return parameters;
}

// What the chip does unless it is told otherwise.
std::atomic<aclrtFloatOverflowMode>& OverflowMode() {
  static std::atomic<aclrtFloatOverflowMode> mode{TraitsOf(TheConfiguration().soc).infNan
                                                      ? ACL_RT_OVERFLOW_MODE_INFNAN
                                                      : ACL_RT_OVERFLOW_MODE_SATURATION};
  return mode;
}

std::atomic<Milliseconds> longestWait{-1};

}  // namespace

Milliseconds LongestWaitOfATask() { return longestWait; }

}  // namespace simulator

using namespace simulator;

aclError aclrtSetSysParamOpt(aclSysParamOpt option, int64_t value) {
  return Guarded("aclrtSetSysParamOpt", [&]() -> aclError {
    OfTheProcess().Set(option, value);
    return ACL_SUCCESS;
  });
}

aclError aclrtGetSysParamOpt(aclSysParamOpt option, int64_t* value) {
  return Guarded("aclrtGetSysParamOpt", [&]() -> aclError {
    if (value == nullptr) return Fail(ACL_ERROR_INVALID_PARAM, "aclrtGetSysParamOpt: no result");
    *value = OfTheProcess().Get(option).value_or(0);
    return ACL_SUCCESS;
  });
}

aclError aclrtCtxSetSysParamOpt(aclSysParamOpt option, int64_t value) {
  return Guarded("aclrtCtxSetSysParamOpt", [&]() -> aclError {
    OfTheContext().Set(option, value);
    return ACL_SUCCESS;
  });
}

aclError aclrtCtxGetSysParamOpt(aclSysParamOpt option, int64_t* value) {
  return Guarded("aclrtCtxGetSysParamOpt", [&]() -> aclError {
    if (value == nullptr) return Fail(ACL_ERROR_INVALID_PARAM, "aclrtCtxGetSysParamOpt: no result");
    const auto set = OfTheContext().Get(option);
    if (!set) return Fail(ACL_ERROR_RT_SYSPARAMOPT_NOT_SET, "aclrtCtxGetSysParamOpt: it was never set");
    *value = *set;
    return ACL_SUCCESS;
  });
}

aclError aclrtSetDeviceSatMode(aclrtFloatOverflowMode mode) {
  OverflowMode() = mode;
  return ACL_SUCCESS;
}

aclError aclrtGetDeviceSatMode(aclrtFloatOverflowMode* mode) {
  if (mode == nullptr) return Fail(ACL_ERROR_INVALID_PARAM, "aclrtGetDeviceSatMode: no result");
  *mode = OverflowMode();
  return ACL_SUCCESS;
}

aclError aclrtSetOpWaitTimeout(uint32_t seconds) {
  constexpr uint32_t kMost = std::numeric_limits<Milliseconds>::max() / 1000;
  longestWait = seconds == 0 ? -1 : static_cast<Milliseconds>(std::min(seconds, kMost)) * 1000;
  return ACL_SUCCESS;
}

// Simulated operators always come to an end, so their time limit never strikes.
aclError aclrtSetOpExecuteTimeOut(uint32_t) { return ACL_SUCCESS; }

aclError aclrtSetOpExecuteTimeOutV2(uint64_t microseconds, uint64_t* actualMicroseconds) {
  if (actualMicroseconds != nullptr) *actualMicroseconds = microseconds;
  return ACL_SUCCESS;
}

// Overflows are seen as infinities and NaNs; there is no separate flag to switch on.
aclError aclrtSetStreamOverflowSwitch(aclrtStream handle, uint32_t flag) {
  return Guarded("aclrtSetStreamOverflowSwitch", [&]() -> aclError {
    std::shared_ptr<Stream> stream;
    if (const aclError error = FindStream(handle, &stream)) return error;
    return flag <= 1 ? ACL_SUCCESS : Fail(ACL_ERROR_RT_PARAM_INVALID, "aclrtSetStreamOverflowSwitch: 0 or 1");
  });
}

aclError aclrtGetStreamOverflowSwitch(aclrtStream handle, uint32_t* flag) {
  return Guarded("aclrtGetStreamOverflowSwitch", [&]() -> aclError {
    std::shared_ptr<Stream> stream;
    if (flag == nullptr) return Fail(ACL_ERROR_INVALID_PARAM, "aclrtGetStreamOverflowSwitch: no result");
    if (const aclError error = FindStream(handle, &stream)) return error;
    *flag = 0;
    return ACL_SUCCESS;
  });
}
