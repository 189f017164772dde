#include <string>

#include "boundary.h"

// Known to programs, not implemented: each refuses at once and says its name.

namespace {

HcclResult Refused(const char* name) {
  return simulator::hccl::Report(name, HCCL_E_NOT_SUPPORT,
                                 std::string(name) + " is not implemented by the simulated CANN");
}

}  // namespace

HcclResult HcclCommInitClusterInfo(const char*, uint32_t, HcclComm*) { return Refused(__func__); }
HcclResult HcclCommInitClusterInfoConfig(const char*, uint32_t, HcclCommConfig*, HcclComm*) {
  return Refused(__func__);
}
HcclResult HcclGetRootInfoScalable(HcclRootInfo*) { return Refused(__func__); }
HcclResult HcclCommInitRootInfoScalable(uint32_t, uint32_t, const HcclRootInfo*, uint32_t, uint32_t,
                                        const HcclCommConfig*, HcclComm*) {
  return Refused(__func__);
}
HcclResult HcclCommSuspend(HcclComm) { return Refused(__func__); }
HcclResult HcclCommResume(HcclComm) { return Refused(__func__); }
HcclResult HcclCommSetMemoryRange(HcclComm, void*, size_t, size_t, uint64_t) { return Refused(__func__); }
HcclResult HcclCommUnsetMemoryRange(HcclComm, void*) { return Refused(__func__); }
HcclResult HcclCommActivateCommMemory(HcclComm, void*, size_t, size_t, void*, uint64_t) {
  return Refused(__func__);
}
HcclResult HcclCommDeactivateCommMemory(HcclComm, void*) { return Refused(__func__); }
HcclResult HcclCommWorkingDevNicSet(HcclComm, uint32_t*, bool*, uint32_t) { return Refused(__func__); }
HcclResult HcclCommRegister(HcclComm, void*, uint64_t, void**, uint32_t) { return Refused(__func__); }
HcclResult HcclCommDeregister(HcclComm, void*) { return Refused(__func__); }
HcclResult HcclCommExchangeMem(HcclComm, void*, uint32_t*, uint32_t) { return Refused(__func__); }
