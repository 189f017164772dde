#include <array>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "acl/acl_rt.h"
#include "runtime/adopted_memory.h"
#include "runtime/blocks.h"
#include "runtime/boundary.h"
#include "runtime/context.h"
#include "runtime/device.h"
#include "runtime/error.h"
#include "runtime/own_memory.h"
#include "runtime/queue.h"

// Memory of aclrtMalloc for other processes. A key says all that they need: whose it is, and which part of
// it.

namespace simulator {
namespace {

constexpr size_t kKeyBytes = 65;

struct Part {
  OfferName offer = 0;
  uint64_t offset = 0;
  uint64_t bytes = 0;
  uint64_t stamp = 0;
};

std::string Write(const Part& part) {
  std::array<char, kKeyBytes> key{};
  std::snprintf(key.data(), key.size(), "%016" PRIx64 "%012" PRIx64 "%012" PRIx64 "%016" PRIx64, part.offer,
                part.offset, part.bytes, part.stamp);
  return key.data();
}

uint64_t Hexadecimal(const std::string& digits) { return std::strtoull(digits.c_str(), nullptr, 16); }

std::optional<Part> Read(const std::string& key) {
  if (key.size() != 16 + 12 + 12 + 16) return std::nullopt;
  const Part part = {Hexadecimal(key.substr(0, 16)), Hexadecimal(key.substr(16, 12)),
                     Hexadecimal(key.substr(28, 12)), Hexadecimal(key.substr(40))};
  return Write(part) == key ? std::optional(part) : std::nullopt;
}

// Handed out as often as they are to be closed.
struct Export {
  std::weak_ptr<OwnMemory> memory;
  int count = 0;
};

struct Import {
  char* address = nullptr;
  int count = 0;
};

struct Keys {
  std::mutex mutex;
  std::map<std::string, Export> exported;
  std::map<std::string, Import> imported;
};

Keys& TheKeys() {
  static auto* keys = new Keys;
  return *keys;
}

aclError NotAKey(const char* call) {
  return Fail(ACL_ERROR_RT_PARAM_INVALID, std::string(call) + ": not a key of memory shared or opened here");
}

aclError ExportPart(const Blocks::Block& block, const char* begin, size_t bytes, bool toAll,
                    std::string* key) {
  const auto memory = std::dynamic_pointer_cast<OwnMemory>(block.physical);
  if (const aclError error = memory->MakeOffer(toAll)) return error;
  const auto offset = static_cast<uint64_t>(begin - block.begin);
  *key = Write({memory->Name(), offset, bytes, StampOfThisProcess()});
  Keys& keys = TheKeys();
  const std::lock_guard<std::mutex> lock(keys.mutex);
  Export& made = keys.exported[*key];
  made.memory = memory;
  ++made.count;
  return ACL_SUCCESS;
}

std::shared_ptr<OwnMemory> FindExported(const char* key) {
  Keys& keys = TheKeys();
  const std::lock_guard<std::mutex> lock(keys.mutex);
  const auto found = keys.exported.find(key);
  return found == keys.exported.end() ? nullptr : found->second.memory.lock();
}

aclError ImportPart(const Part& part, Device* here, char** address) {
  std::shared_ptr<AdoptedMemory> memory;
  if (const aclError error = AdoptedMemory::Adopt(part.offer, here, &memory)) return error;
  if (memory->Stamp() != part.stamp) {
    return Fail(ACL_ERROR_RT_PARAM_INVALID, "the process that shared the memory has ended");
  }
  if (part.offset > memory->Bytes() || part.bytes > memory->Bytes() - part.offset) return NotAKey("import");
  *address = static_cast<char*>(memory->Map(nullptr, part.offset, WholePages(part.bytes)));
  if (*address == nullptr) return NoHostMemory();
  Device* device = memory->Owner();
  ImportedBlocks().Add({*address, WholePages(part.bytes), device, std::move(memory)});
  return ACL_SUCCESS;
}

void Unmap(char* address) {
  const auto found = ImportedBlocks().At(address);
  if (!found) return;
  DrainStreams(*found->device);  // a queued task may still use the memory
  ImportedBlocks().Remove(address);
  UnmapPages(address, found->bytes);
}

}  // namespace
}  // namespace simulator

using namespace simulator;

aclError aclrtIpcMemGetExportKey(void* pointer, size_t bytes, char* key, size_t capacity, uint64_t flags) {
  return Guarded("aclrtIpcMemGetExportKey", [&]() -> aclError {
    if (pointer == nullptr || bytes == 0 || key == nullptr || capacity < kKeyBytes ||
        (flags & ~ACL_RT_IPC_MEM_EXPORT_FLAG_DISABLE_PID_VALIDATION) != 0) {
      return Fail(ACL_ERROR_INVALID_PARAM, "aclrtIpcMemGetExportKey: memory, room for a key of " +
                                               std::to_string(kKeyBytes) +
                                               " bytes and known flags are needed");
    }
    std::shared_ptr<Context> context;
    if (const aclError error = CurrentContext(&context)) return error;
    const auto* begin = static_cast<const char*>(pointer);
    const auto block = DeviceBlocks().At(pointer);
    if (!block || bytes > block->bytes - static_cast<size_t>(begin - block->begin) ||
        WholePages(begin - block->begin) != static_cast<size_t>(begin - block->begin)) {
      return Fail(ACL_ERROR_RT_PARAM_INVALID,
                  "aclrtIpcMemGetExportKey: not whole pages of one block of aclrtMalloc");
    }
    std::string made;
    const bool toAll = flags != ACL_RT_IPC_MEM_EXPORT_FLAG_DEFAULT;
    if (const aclError error = ExportPart(*block, begin, bytes, toAll, &made)) return error;
    key[made.copy(key, kKeyBytes - 1)] = '\0';
    return ACL_SUCCESS;
  });
}

aclError aclrtIpcMemSetImportPid(const char* key, int32_t* processes, size_t count) {
  return Guarded("aclrtIpcMemSetImportPid", [&]() -> aclError {
    if (key == nullptr || processes == nullptr || count == 0) {
      return Fail(ACL_ERROR_INVALID_PARAM, "aclrtIpcMemSetImportPid: a key and process ids are needed");
    }
    const auto memory = FindExported(key);
    return memory == nullptr ? NotAKey("aclrtIpcMemSetImportPid") : memory->Invite(processes, count);
  });
}

aclError aclrtIpcMemImportPidInterServer(const char*, aclrtServerPid*, size_t) {
  return Refuse("aclrtIpcMemImportPidInterServer");  // there is only one server
}

aclError aclrtIpcMemImportByKey(void** pointer, const char* key, uint64_t flags) {
  return Guarded("aclrtIpcMemImportByKey", [&]() -> aclError {
    if (pointer == nullptr || key == nullptr ||
        (flags & ~ACL_RT_IPC_MEM_IMPORT_FLAG_ENABLE_PEER_ACCESS) != 0) {
      return Fail(ACL_ERROR_INVALID_PARAM,
                  "aclrtIpcMemImportByKey: a key, a result and known flags are needed");
    }
    std::shared_ptr<Context> context;
    if (const aclError error = CurrentContext(&context)) return error;
    const auto part = Read(key);
    if (!part) return NotAKey("aclrtIpcMemImportByKey");
    Keys& keys = TheKeys();
    const std::lock_guard<std::mutex> lock(keys.mutex);
    Import& import = keys.imported[key];
    if (import.count == 0) {
      if (const aclError error = ImportPart(*part, context->device, &import.address)) {
        keys.imported.erase(key);
        return error;
      }
    }
    ++import.count;
    *pointer = import.address;
    return ACL_SUCCESS;
  });
}

aclError aclrtIpcMemSetAttr(const char*, aclrtIpcMemAttrType, uint64_t) {
  return Refuse("aclrtIpcMemSetAttr");  // which link is taken between two dies: there is none
}

aclError aclrtIpcMemClose(const char* key) {
  return Guarded("aclrtIpcMemClose", [&]() -> aclError {
    if (key == nullptr) return Fail(ACL_ERROR_INVALID_PARAM, "aclrtIpcMemClose: no key");
    Keys& keys = TheKeys();
    std::unique_lock<std::mutex> lock(keys.mutex);
    if (const auto found = keys.imported.find(key); found != keys.imported.end()) {
      if (--found->second.count > 0) return ACL_SUCCESS;
      char* address = found->second.address;
      keys.imported.erase(found);
      lock.unlock();
      Unmap(address);
      return ACL_SUCCESS;
    }
    const auto found = keys.exported.find(key);
    if (found == keys.exported.end()) return NotAKey("aclrtIpcMemClose");
    if (const auto memory = found->second.memory.lock()) memory->EndOffer();
    if (--found->second.count == 0) keys.exported.erase(found);
    return ACL_SUCCESS;
  });
}
