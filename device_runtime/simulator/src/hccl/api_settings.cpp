#include <array>
#include <atomic>
#include <string>

#include "boundary.h"

namespace {

using namespace simulator::hccl;

// Reductions here are always deterministic and there is one way to run them; the values are kept to be read.
std::atomic<int32_t>& Value(HcclConfig config) {
  static std::array<std::atomic<int32_t>, HCCL_CONFIG_RESERVED> values{};
  Require(config >= HCCL_DETERMINISTIC && config < HCCL_CONFIG_RESERVED, HCCL_E_PARA,
          "configuration item " + std::to_string(config) + " does not exist");
  return values[static_cast<size_t>(config)];
}

}  // namespace

HcclResult HcclSetConfig(HcclConfig config, HcclConfigValue configValue) {
  return Guarded(__func__, [&] { Value(config) = configValue.value; });
}

HcclResult HcclGetConfig(HcclConfig config, HcclConfigValue* configValue) {
  return Guarded(__func__, [&] {
    Require(configValue != nullptr, HCCL_E_PTR, "configValue is a null pointer");
    configValue->value = Value(config);
  });
}

const char* HcclGetErrorString(HcclResult code) {
  switch (code) {
    case HCCL_SUCCESS:
      return "no error";
    case HCCL_E_PARA:
      return "parameter error";
    case HCCL_E_PTR:
      return "null pointer";
    case HCCL_E_MEMORY:
      return "memory error";
    case HCCL_E_INTERNAL:
      return "internal error";
    case HCCL_E_NOT_SUPPORT:
      return "not supported";
    case HCCL_E_NOT_FOUND:
      return "resource not found";
    case HCCL_E_UNAVAIL:
      return "resource unavailable";
    case HCCL_E_SYSCALL:
      return "system call failed";
    case HCCL_E_TIMEOUT:
      return "timeout";
    case HCCL_E_OPEN_FILE_FAILURE:
      return "file cannot be opened";
    case HCCL_E_TCP_CONNECT:
      return "TCP connection failed";
    case HCCL_E_ROCE_CONNECT:
      return "RoCE connection failed";
    case HCCL_E_TCP_TRANSFER:
      return "TCP transfer failed";
    case HCCL_E_ROCE_TRANSFER:
      return "RoCE transfer failed";
    case HCCL_E_RUNTIME:
      return "runtime call failed";
    case HCCL_E_DRV:
      return "driver call failed";
    case HCCL_E_PROFILING:
      return "profiling call failed";
    case HCCL_E_CCE:
      return "CCE call failed";
    case HCCL_E_NETWORK:
      return "network call failed";
    case HCCL_E_AGAIN:
      return "operation must be repeated";
    case HCCL_E_REMOTE:
      return "remote rank failed";
    case HCCL_E_SUSPENDING:
      return "communicator is suspending";
    case HCCL_E_OPRETRY_FAIL:
      return "retry failed";
    case HCCL_E_OOM:
      return "out of memory";
    case HCCL_E_RESERVED:
      break;
  }
  return "unknown error";
}
