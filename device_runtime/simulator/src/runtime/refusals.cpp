#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>

#include "acl/acl_rt.h"
#include "runtime/error.h"

// What torch_npu links against and the simulated CANN does not do: device kernels, the profiler's reports.
// The arguments are of no interest, only their number matters to the ABI.

#define REFUSED(name) \
  ACL_FUNC_VISIBILITY int name() { return simulator::Refuse(#name); }

extern "C" {

REFUSED(aclrtBinaryGetFunction)
REFUSED(aclrtBinaryLoadFromData)
REFUSED(aclrtGetFunctionAddr)
REFUSED(rtDevBinaryRegister)
REFUSED(rtFunctionRegister)
REFUSED(rtGetC2cCtrlAddr)
REFUSED(rtKernelLaunch)

REFUSED(MsprofReportAdditionalInfo)
REFUSED(MsprofReportApi)
REFUSED(MsprofReportCompactInfo)

// Registering is harmless: without a profiler the callback is never called.
ACL_FUNC_VISIBILITY int32_t MsprofRegisterCallback(uint32_t, void*) { return 0; }

ACL_FUNC_VISIBILITY uint64_t MsprofGetHashId(const char* text, size_t length) {
  return std::hash<std::string_view>{}(std::string_view(text, length));
}

ACL_FUNC_VISIBILITY uint64_t MsprofSysCycleTime() {
  return static_cast<uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
}
}
