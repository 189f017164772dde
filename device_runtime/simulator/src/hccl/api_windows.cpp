#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "boundary.h"
#include "chip.h"
#include "runtime/memory.h"
#include "windows.h"

// Memory that is made known to a communicator. Which chips have it is in hcomm's documentation of each
// function.

namespace {

using namespace simulator::hccl;

void RequireA3(const char* what) {
  Require(TheChip() == Chip::kA3, HCCL_E_NOT_SUPPORT,
          std::string(Name(TheChip())) + " does not support " + what + ", Atlas A3 does");
}

template <typename Pointed>
void RequirePointer(const Pointed* pointer, const char* name) {
  Require(pointer != nullptr, HCCL_E_PTR, std::string(name) + " is a null pointer");
}

Window WindowOf(void* address, uint64_t bytes) {
  RequirePointer(address, "the address");
  Require(bytes > 0, HCCL_E_PARA, "the size is 0");
  return {address, bytes};
}

Window DeviceWindowOf(void* address, uint64_t bytes) {
  const Window window = WindowOf(address, bytes);
  Require(simulator::IsDeviceMemory(address, bytes), HCCL_E_PARA,
          std::to_string(bytes) + " bytes at the address are not in the memory of a device");
  return window;
}

// Which communicator a symmetric window belongs to: its functions are given the window alone.
struct Owners {
  std::mutex mutex;
  std::map<HcclCommSymWindow, std::weak_ptr<Communicator>> of;
};

Owners& TheOwners() {
  static auto* owners = new Owners;  // programs may still call while the process exits
  return *owners;
}

}  // namespace

HcclResult HcclCommRegister(HcclComm comm, void* addr, uint64_t size, void** handle, uint32_t) {
  return Guarded(__func__, [&] {
    RequirePointer(handle, "handle");
    const auto group = Find(comm);
    RequireA3("the registration of memory");
    *handle = group->windows().Register(DeviceWindowOf(addr, size));
  });
}

HcclResult HcclCommDeregister(HcclComm comm, void* handle) {
  return Guarded(__func__, [&] {
    RequirePointer(handle, "handle");
    const auto group = Find(comm);
    RequireA3("the registration of memory");
    group->windows().Deregister(handle);
  });
}

HcclResult HcclCommExchangeMem(HcclComm comm, void* windowHandle, uint32_t* peerRanks, uint32_t peerRankNum) {
  return Guarded(__func__, [&] {
    RequirePointer(windowHandle, "windowHandle");
    RequirePointer(peerRanks, "peerRanks");
    const auto group = Find(comm);
    RequireA3("the registration of memory");
    Require(peerRankNum > 0 && peerRankNum <= group->ranks(), HCCL_E_PARA,
            std::to_string(peerRankNum) + " peers in a group of " + std::to_string(group->ranks()));
    group->windows().Exchange(*group->Current(), windowHandle, {peerRanks, peerRanks + peerRankNum});
  });
}

HcclResult HcclCommSymWinRegister(HcclComm comm, void* addr, uint64_t size, HcclCommSymWindow* winHandle,
                                  uint32_t flag) {
  return Guarded(__func__, [&] {
    RequirePointer(winHandle, "winHandle");
    const auto group = Find(comm);
    Require(flag == 1, HCCL_E_PARA, "flag " + std::to_string(flag) + ", only 1 is supported");
    Require(TheChip() == Chip::kA3 || TheChip() == Chip::k950, HCCL_E_NOT_SUPPORT,
            std::string(Name(TheChip())) + " does not support symmetric memory");
    *winHandle = group->windows().RegisterSymmetric(DeviceWindowOf(addr, size));
    const std::lock_guard<std::mutex> lock(TheOwners().mutex);
    TheOwners().of[*winHandle] = group;
  });
}

HcclResult HcclCommSymWinDeregister(HcclCommSymWindow winHandle) {
  return Guarded(__func__, [&] {
    RequirePointer(winHandle, "winHandle");
    const std::lock_guard<std::mutex> lock(TheOwners().mutex);
    const auto found = TheOwners().of.find(winHandle);
    Require(found != TheOwners().of.end(), HCCL_E_PARA, "the window is not registered");
    if (const auto group = found->second.lock()) group->windows().DeregisterSymmetric(winHandle);
    TheOwners().of.erase(found);
  });
}

HcclResult HcclCommSymWinGet(HcclComm comm, void* ptr, size_t size, HcclCommSymWindow* winHandle,
                             size_t* offset) {
  return Guarded(__func__, [&] {
    RequirePointer(winHandle, "winHandle");
    RequirePointer(offset, "offset");
    const Window wanted = WindowOf(ptr, size);
    *winHandle = Find(comm)->windows().FindSymmetric(wanted.address, wanted.bytes, offset);
    Require(*winHandle != nullptr, HCCL_E_NOT_FOUND, "the memory is not in a symmetric window");
  });
}

HcclResult HcclCommSetMemoryRange(HcclComm comm, void* base, size_t size, size_t, uint64_t) {
  return Guarded(__func__, [&] {
    const Window range = WindowOf(base, size);
    const auto group = Find(comm);
    RequireA3("copies without staging");
    if (group->ranks() > 1) TheRanges().Set(range);
  });
}

HcclResult HcclCommUnsetMemoryRange(HcclComm comm, void* base) {
  return Guarded(__func__, [&] {
    RequirePointer(base, "the address");
    const auto group = Find(comm);
    RequireA3("copies without staging");
    if (group->ranks() > 1) TheRanges().Unset(base);
  });
}

HcclResult HcclCommActivateCommMemory(HcclComm comm, void* address, size_t size, size_t, void* handle,
                                      uint64_t) {
  return Guarded(__func__, [&] {
    const Window part = WindowOf(address, size);
    RequirePointer(handle, "handle");
    const auto group = Find(comm);
    RequireA3("copies without staging");
    if (group->ranks() > 1) TheRanges().Activate(part);
  });
}

HcclResult HcclCommDeactivateCommMemory(HcclComm comm, void* address) {
  return Guarded(__func__, [&] {
    RequirePointer(address, "the address");
    const auto group = Find(comm);
    RequireA3("copies without staging");
    if (group->ranks() > 1) TheRanges().Deactivate(address);
  });
}

// The cards of one machine have no network card to switch to: HCCL then says so in its log and succeeds.
HcclResult HcclCommWorkingDevNicSet(HcclComm comm, uint32_t* ranks, bool* useBackup, uint32_t nRanks) {
  return Guarded(__func__, [&] {
    RequirePointer(ranks, "ranks");
    RequirePointer(useBackup, "useBackup");
    const auto group = Find(comm);
    for (uint32_t i = 0; i < nRanks; ++i) {
      Require(ranks[i] < group->ranks(), HCCL_E_PARA,
              "rank " + std::to_string(ranks[i]) + " of " + std::to_string(group->ranks()) + " ranks");
    }
  });
}
