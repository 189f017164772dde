#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "acl/acl_rt.h"
#include "runtime/adopted_memory.h"
#include "runtime/boundary.h"
#include "runtime/context.h"
#include "runtime/device.h"
#include "runtime/error.h"
#include "runtime/own_memory.h"
#include "runtime/virtual_memory.h"

// Physical memory for other processes. A shareable handle is the name of an offer; it ends with the memory.

namespace simulator {
namespace {

aclError Export(const char* call, aclrtDrvMemHandle handle, uint64_t flags, uint64_t* shareable) {
  if (shareable == nullptr || (flags & ~ACL_RT_VMM_EXPORT_FLAG_DISABLE_PID_VALIDATION) != 0) {
    return Fail(ACL_ERROR_INVALID_PARAM, std::string(call) + ": known flags and a result are needed");
  }
  std::shared_ptr<PhysicalHandle> found;
  if (const aclError error = FindPhysical(call, handle, &found)) return error;
  const auto memory = std::dynamic_pointer_cast<OwnMemory>(found->physical);
  if (memory == nullptr) {
    return Fail(ACL_ERROR_RT_PARAM_INVALID, std::string(call) + ": the memory belongs to another process");
  }
  if (found->exported.exchange(true)) {
    return Fail(ACL_ERROR_RT_PARAM_INVALID, std::string(call) + ": the memory was exported already");
  }
  const bool toAll = flags != ACL_RT_VMM_EXPORT_FLAG_DEFAULT;
  if (const aclError error = memory->MakeOffer(toAll)) {
    found->exported = false;
    return error;
  }
  *shareable = memory->Name();
  return ACL_SUCCESS;
}

aclError Import(uint64_t shareable, Device* device, aclrtDrvMemHandle* handle) {
  std::shared_ptr<AdoptedMemory> memory;
  if (const aclError error = AdoptedMemory::Adopt(shareable, device, &memory)) return error;
  auto made = std::make_shared<PhysicalHandle>();
  made->properties.memAttr = ACL_HBM_MEM_HUGE;
  if (memory->Owner() != nullptr) {
    made->properties.location = {static_cast<uint32_t>(memory->Owner()->Id()), ACL_MEM_LOCATION_TYPE_DEVICE};
  }
  made->physical = std::move(memory);
  *handle = PhysicalHandles().Add(std::move(made));
  return ACL_SUCCESS;
}

aclError Invite(const char* call, uint64_t shareable, const int32_t* processes, size_t count) {
  if (processes == nullptr || count == 0) {
    return Fail(ACL_ERROR_INVALID_PARAM, std::string(call) + ": process ids are needed");
  }
  for (const auto& handle : PhysicalHandles().All()) {
    const auto memory = std::dynamic_pointer_cast<OwnMemory>(handle->physical);
    if (handle->exported && memory != nullptr && memory->Name() == shareable) {
      return memory->Invite(processes, count);
    }
  }
  return Fail(ACL_ERROR_RT_PARAM_INVALID, std::string(call) + ": this process has exported no such memory");
}

// Handles for other servers are of another type: there is only one server.
aclError CheckType(const char* call, aclrtMemSharedHandleType type, const void* shareable) {
  if (type != ACL_MEM_SHARE_HANDLE_TYPE_DEFAULT) {
    return Refuse(std::string(call) + "(" + std::to_string(type) + ")");
  }
  if (shareable != nullptr) return ACL_SUCCESS;
  return Fail(ACL_ERROR_INVALID_PARAM, std::string(call) + ": no shareable handle");
}

}  // namespace
}  // namespace simulator

using namespace simulator;

aclError aclrtMemExportToShareableHandle(aclrtDrvMemHandle handle, aclrtMemHandleType, uint64_t flags,
                                         uint64_t* shareable) {
  return Guarded("aclrtMemExportToShareableHandle",
                 [&] { return Export("aclrtMemExportToShareableHandle", handle, flags, shareable); });
}

aclError aclrtMemExportToShareableHandleV2(aclrtDrvMemHandle handle, uint64_t flags,
                                           aclrtMemSharedHandleType type, void* shareable) {
  const char* call = "aclrtMemExportToShareableHandleV2";
  return Guarded(call, [&]() -> aclError {
    if (const aclError error = CheckType(call, type, shareable)) return error;
    return Export(call, handle, flags, static_cast<uint64_t*>(shareable));
  });
}

aclError aclrtMemImportFromShareableHandle(uint64_t shareable, int32_t deviceId, aclrtDrvMemHandle* handle) {
  return Guarded("aclrtMemImportFromShareableHandle", [&]() -> aclError {
    if (handle == nullptr) {
      return Fail(ACL_ERROR_INVALID_PARAM, "aclrtMemImportFromShareableHandle: no result");
    }
    std::shared_ptr<Context> context;
    if (const aclError error = CurrentContext(&context)) return error;
    Device* device = nullptr;
    if (const aclError error = FindDevice(deviceId, &device)) return error;
    return Import(shareable, device, handle);
  });
}

aclError aclrtMemImportFromShareableHandleV2(void* shareable, aclrtMemSharedHandleType type, uint64_t,
                                             aclrtDrvMemHandle* handle) {
  const char* call = "aclrtMemImportFromShareableHandleV2";
  return Guarded(call, [&]() -> aclError {
    if (handle == nullptr) return Fail(ACL_ERROR_INVALID_PARAM, std::string(call) + ": no result");
    if (const aclError error = CheckType(call, type, shareable)) return error;
    std::shared_ptr<Context> context;
    if (const aclError error = CurrentContext(&context)) return error;
    return Import(*static_cast<const uint64_t*>(shareable), context->device, handle);
  });
}

aclError aclrtMemSetPidToShareableHandle(uint64_t shareable, int32_t* processes, size_t count) {
  return Guarded("aclrtMemSetPidToShareableHandle",
                 [&] { return Invite("aclrtMemSetPidToShareableHandle", shareable, processes, count); });
}

aclError aclrtMemSetPidToShareableHandleV2(void* shareable, aclrtMemSharedHandleType type, int32_t* processes,
                                           size_t count) {
  const char* call = "aclrtMemSetPidToShareableHandleV2";
  return Guarded(call, [&]() -> aclError {
    if (const aclError error = CheckType(call, type, shareable)) return error;
    return Invite(call, *static_cast<const uint64_t*>(shareable), processes, count);
  });
}
