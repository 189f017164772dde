#include <array>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "check.h"
#include "process.h"
#include "runtime/memory.h"

// Device memory that processes share, by key (aclrtIpcMem...) and by handle (aclrtMem...ShareableHandle).

using checks::Process;
using simulator::IsDeviceMemory;

namespace {

constexpr size_t kMiB = 1 << 20;
using Key = std::array<char, 65>;

char* Allocate(size_t bytes) {
  void* pointer = nullptr;
  CHECK_OK(aclrtMalloc(&pointer, bytes, ACL_MEM_MALLOC_HUGE_FIRST));
  return static_cast<char*>(pointer);
}

size_t Free() {
  size_t free = 0;
  size_t total = 0;
  CHECK_OK(aclrtGetMemInfo(ACL_HBM_MEM, &free, &total));
  return free;
}

Key KeyOf(char* pointer, size_t bytes, uint64_t flags) {
  Key key{};
  CHECK_OK(aclrtIpcMemGetExportKey(pointer, bytes, key.data(), key.size(), flags));
  return key;
}

aclError Import(const Key& key, char** pointer) {
  void* imported = nullptr;
  const aclError error = aclrtIpcMemImportByKey(&imported, key.data(), 0);
  *pointer = static_cast<char*>(imported);
  return error;
}

void ABlockIsOneForBothProcesses() {
  Process owner([](Process& self) {
    CHECK_OK(aclrtSetDevice(1));
    char* block = Allocate(4 * kMiB);
    std::memset(block, 1, 4 * kMiB);
    self.SendValue(KeyOf(block, 4 * kMiB, ACL_RT_IPC_MEM_EXPORT_FLAG_DISABLE_PID_VALIDATION));
    self.SendValue(KeyOf(block + kMiB, kMiB, ACL_RT_IPC_MEM_EXPORT_FLAG_DISABLE_PID_VALIDATION));
    self.Receive();
    CHECK(block[0] == 2);
    CHECK(block[kMiB + 7] == 3);
    self.Send();
    self.Receive();
  });
  const auto key = owner.ReceiveValue<Key>();
  const auto partKey = owner.ReceiveValue<Key>();
  Process guest([&](Process&) {
    CHECK_OK(aclrtSetDevice(0));
    char* block = nullptr;
    char* again = nullptr;
    char* part = nullptr;
    CHECK_OK(Import(key, &block));
    CHECK_OK(Import(key, &again));
    CHECK(block == again);
    CHECK_OK(Import(partKey, &part));
    CHECK(block[4 * kMiB - 1] == 1);
    CHECK(IsDeviceMemory(block, 4 * kMiB) && !IsDeviceMemory(block, 4 * kMiB + 1));
    aclrtPtrAttributes attributes{};
    CHECK_OK(aclrtPointerGetAttributes(block, &attributes));
    CHECK(attributes.location.type == ACL_MEM_LOCATION_TYPE_DEVICE && attributes.location.id == 1);
    CHECK(Free() == 64 * kMiB);
    CHECK_OK(aclrtMemset(block, 1, 2, 1));
    CHECK_OK(aclrtMemset(part + 7, 1, 3, 1));
    CHECK(block[kMiB + 7] == 3);
    CHECK(aclrtFree(block) == ACL_ERROR_RT_PARAM_INVALID);  // it is not this process's
    CHECK_OK(aclrtIpcMemClose(partKey.data()));
    CHECK_OK(aclrtIpcMemClose(key.data()));
    CHECK(IsDeviceMemory(block, 1));  // it was opened twice
    CHECK_OK(aclrtIpcMemClose(key.data()));
    CHECK(!IsDeviceMemory(block, 1));
    CHECK(aclrtIpcMemClose(key.data()) == ACL_ERROR_RT_PARAM_INVALID);
  });
  CHECK(guest.EndsWell());
  owner.Send();
  owner.Receive();
  owner.Send();
  CHECK(owner.EndsWell());
  Process late([&](Process&) {
    CHECK_OK(aclrtSetDevice(0));
    char* block = nullptr;
    CHECK(Import(key, &block) == ACL_ERROR_RT_PARAM_INVALID);  // its owner is no more
  });
  CHECK(late.EndsWell());
}

void AKeyIsForWhomItIsMeant() {
  Process owner([](Process& self) {
    CHECK_OK(aclrtSetDevice(0));
    char* block = Allocate(kMiB);
    const Key key = KeyOf(block, kMiB, ACL_RT_IPC_MEM_EXPORT_FLAG_DEFAULT);
    char* own = nullptr;
    CHECK(Import(key, &own) == ACL_ERROR_RT_PARAM_INVALID);  // what is one's own needs no key
    self.SendValue(key);
    auto guest = static_cast<int32_t>(self.Receive());
    CHECK_OK(aclrtIpcMemSetImportPid(key.data(), &guest, 1));
    self.Send();
    self.Receive();
    CHECK_OK(aclrtIpcMemClose(key.data()));
    self.Send();
    self.Receive();
    CHECK_OK(aclrtFree(block));
    CHECK(Free() == 64 * kMiB);
  });
  const auto key = owner.ReceiveValue<Key>();
  Process guest([&key](Process& self) {
    CHECK_OK(aclrtSetDevice(0));
    char* block = nullptr;
    CHECK(Import(key, &block) == ACL_ERROR_RT_PARAM_INVALID);
    self.Send();
    self.Receive();
    CHECK_OK(Import(key, &block));
    CHECK_OK(aclrtIpcMemClose(key.data()));
    self.Send();
    self.Receive();
    CHECK(Import(key, &block) == ACL_ERROR_RT_PARAM_INVALID);  // closed by its owner
  });
  guest.Receive();
  owner.Send(static_cast<size_t>(guest.Id()));
  owner.Receive();
  guest.Send();
  guest.Receive();
  owner.Send();
  owner.Receive();
  guest.Send();
  CHECK(guest.EndsWell());
  owner.Send();
  CHECK(owner.EndsWell());
}

void WrongKeysAreRefused() {
  Process process([](Process&) {
    CHECK_OK(aclrtSetDevice(0));
    char* block = Allocate(kMiB);
    Key key{};
    const auto exportPart = [&](char* begin, size_t bytes) {
      return aclrtIpcMemGetExportKey(begin, bytes, key.data(), key.size(), 0);
    };
    CHECK(aclrtIpcMemGetExportKey(block, kMiB, key.data(), 64, 0) == ACL_ERROR_INVALID_PARAM);
    CHECK(exportPart(block, kMiB + 1) == ACL_ERROR_RT_PARAM_INVALID);
    CHECK(exportPart(block + 32, 32) == ACL_ERROR_RT_PARAM_INVALID);  // not the start of a page
    CHECK(exportPart(key.data(), 32) == ACL_ERROR_RT_PARAM_INVALID);
    void* imported = nullptr;
    CHECK(aclrtIpcMemImportByKey(&imported, "nonsense", 0) == ACL_ERROR_RT_PARAM_INVALID);
    CHECK(aclrtIpcMemClose("nonsense") == ACL_ERROR_RT_PARAM_INVALID);
    const std::string nobody = std::string(16, 'f') + std::string(40, '0');
    CHECK(aclrtIpcMemImportByKey(&imported, nobody.c_str(), 0) == ACL_ERROR_RT_PARAM_INVALID);
  });
  CHECK(process.EndsWell());
}

aclrtDrvMemHandle Physical(size_t bytes) {
  aclrtPhysicalMemProp properties{};
  properties.memAttr = ACL_HBM_MEM_HUGE;
  properties.location.type = ACL_MEM_LOCATION_TYPE_DEVICE;
  aclrtDrvMemHandle handle = nullptr;
  CHECK_OK(aclrtMallocPhysical(&handle, bytes, &properties, 0));
  return handle;
}

char* Mapped(aclrtDrvMemHandle handle, size_t bytes) {
  void* address = nullptr;
  CHECK_OK(aclrtReserveMemAddress(&address, bytes, 0, nullptr, 0));
  CHECK_OK(aclrtMapMem(address, bytes, 0, handle, 0));
  return static_cast<char*>(address);
}

// What is shared stays until the last one lets go, though its owner has freed it.
void PhysicalMemoryIsShared() {
  Process owner([](Process& self) {
    CHECK_OK(aclrtSetDevice(0));
    aclrtDrvMemHandle handle = Physical(2 * kMiB);
    uint64_t shareable = 0;
    CHECK_OK(aclrtMemExportToShareableHandle(handle, ACL_MEM_HANDLE_TYPE_NONE, 0, &shareable));
    CHECK(aclrtMemExportToShareableHandle(handle, ACL_MEM_HANDLE_TYPE_NONE, 0, &shareable) ==
          ACL_ERROR_RT_PARAM_INVALID);
    char* range = Mapped(handle, 2 * kMiB);
    std::memset(range, 5, 2 * kMiB);
    self.SendValue(shareable);
    auto guest = static_cast<int32_t>(self.Receive());
    CHECK_OK(aclrtMemSetPidToShareableHandle(shareable, &guest, 1));
    self.Send();
    self.Receive();
    CHECK(range[9] == 6);
    CHECK_OK(aclrtUnmapMem(range));
    CHECK_OK(aclrtFreePhysical(handle));
    CHECK(Free() == 64 * kMiB);
    self.Send();
    self.Receive();
  });
  auto shareable = owner.ReceiveValue<uint64_t>();
  Process guest([shareable](Process& self) mutable {
    CHECK_OK(aclrtSetDevice(0));
    aclrtDrvMemHandle handle = nullptr;
    CHECK(aclrtMemImportFromShareableHandle(shareable, 0, &handle) == ACL_ERROR_RT_PARAM_INVALID);
    self.Send();
    self.Receive();
    CHECK_OK(aclrtMemImportFromShareableHandleV2(&shareable, ACL_MEM_SHARE_HANDLE_TYPE_DEFAULT, 0, &handle));
    CHECK(aclrtMemExportToShareableHandle(handle, ACL_MEM_HANDLE_TYPE_NONE, 0, &shareable) ==
          ACL_ERROR_RT_PARAM_INVALID);  // it is another's to share
    char* range = Mapped(handle, 2 * kMiB);
    CHECK(IsDeviceMemory(range, 2 * kMiB));
    CHECK(range[0] == 5);
    range[9] = 6;
    self.Send();
    self.Receive();
    CHECK(range[0] == 5);
    CHECK_OK(aclrtUnmapMem(range));
    CHECK_OK(aclrtFreePhysical(handle));
  });
  guest.Receive();
  owner.Send(static_cast<size_t>(guest.Id()));
  owner.Receive();
  guest.Send();
  guest.Receive();
  owner.Send();
  owner.Receive();
  guest.Send();
  CHECK(guest.EndsWell());
  owner.Send();
  CHECK(owner.EndsWell());
}

}  // namespace

int main() {
  setenv("ASCENDENV_SIM_MEMORY", "64MiB", 1);
  setenv("ASCENDENV_SIM_DEVICES", "2", 1);
  ABlockIsOneForBothProcesses();
  AKeyIsForWhomItIsMeant();
  WrongKeysAreRefused();
  PhysicalMemoryIsShared();
  return checks::Result();
}
