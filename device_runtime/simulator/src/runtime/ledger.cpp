#include "runtime/ledger.h"

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <optional>
#include <system_error>
#include <utility>

#include "runtime/byte_locks.h"
#include "runtime/configuration.h"
#include "runtime/machine.h"

// The ledger is a file that every process maps. A process writes to one slot only, and holds the lock on the
// byte with the slot's number for as long as it lives: a slot without that lock is dead, whatever it says.
// One more byte is the lock under which slots are taken and limits are checked.

namespace simulator {
namespace {

constexpr int kSlots = 256;
constexpr off_t kDoor = kSlots + 1;  // not beside a slot: neighbouring locks of a process become one

struct Slot {
  std::array<std::atomic<uint64_t>, kMostDevices> bytes;
  std::array<std::atomic<uint32_t>, kMostDevices> attached;
};

using Slots = std::array<Slot, kSlots>;

static_assert(std::atomic<uint64_t>::is_always_lock_free, "processes share plain words");

class Ledger {
 public:
  Ledger(std::string path, int file) : path_(std::move(path)), file_(file) {
    void* pages = MAP_FAILED;
    if (ftruncate(file_, sizeof(Slots)) == 0) {
      pages = mmap(nullptr, sizeof(Slots), PROT_READ | PROT_WRITE, MAP_SHARED, file_, 0);
    }
    if (pages == MAP_FAILED) {
      const int reason = errno;
      close(file_);
      throw std::system_error(reason, std::generic_category(), "mapping the ledger " + path_);
    }
    slots_ = static_cast<Slots*>(pages);  // zeros at first, which is an empty ledger
  }

  ~Ledger() {
    munmap(slots_, sizeof(Slots));
    close(file_);  // and so gives up the slot
  }

  Ledger(const Ledger&) = delete;
  Ledger& operator=(const Ledger&) = delete;

  // Takes a slot for this process; false when the file was removed in the meantime.
  bool Enter() {
    const Door door(file_);
    struct stat status{};
    if (fstat(file_, &status) != 0 || status.st_nlink == 0) return false;
    for (int index = 0; index < kSlots; ++index) {
      if (!TryLockByte(file_, index)) continue;
      own_ = index;
      Clear((*slots_)[index]);
      return true;
    }
    throw std::runtime_error("more than " + std::to_string(kSlots) + " processes use the simulated devices");
  }

  // The last one to leave removes the file.
  void Leave() {
    const Door door(file_);
    const bool last = !FindLock(file_, 0, own_) && !FindLock(file_, own_ + 1, kSlots);
    if (last) unlink(path_.c_str());
  }

  bool Take(int32_t device, uint64_t bytes, uint64_t limit) {
    const Door door(file_);
    const uint64_t taken = Taken(device);
    if (taken > limit || bytes > limit - taken) return false;
    Own().bytes[device] += bytes;
    return true;
  }

  uint64_t Taken(int32_t device) const {
    uint64_t taken = 0;
    for (int index = 0; index < kSlots; ++index) {
      const uint64_t bytes = (*slots_)[index].bytes[device];
      if (bytes > 0 && Holder(index)) taken += bytes;
    }
    return taken;
  }

  std::vector<Use> Uses() const {
    std::vector<Use> uses;
    for (int index = 0; index < kSlots; ++index) {
      if (const auto holder = Holder(index)) Append(uses, *holder, (*slots_)[index]);
    }
    return uses;
  }

  Slot& Own() { return (*slots_)[own_]; }

 private:
  class Door {
   public:
    explicit Door(int file) : file_(file) { LockByte(file_, kDoor); }
    ~Door() { UnlockByte(file_, kDoor); }
    Door(const Door&) = delete;
    Door& operator=(const Door&) = delete;

   private:
    const int file_;
  };

  static void Clear(Slot& slot) {
    for (auto& bytes : slot.bytes) bytes = 0;
    for (auto& attached : slot.attached) attached = 0;
  }

  static void Append(std::vector<Use>& uses, pid_t process, const Slot& slot) {
    for (size_t device = 0; device < kMostDevices; ++device) {
      const uint64_t bytes = slot.bytes[device];
      if (bytes == 0 && slot.attached[device] == 0) continue;
      uses.push_back({process, static_cast<int32_t>(device), bytes});
    }
  }

  // The process whose slot it is, if that lives.
  std::optional<pid_t> Holder(int index) const {
    if (index == own_) return getpid();
    const auto lock = FindLock(file_, index, index + 1);
    return lock ? std::optional(lock->holder) : std::nullopt;
  }

  const std::string path_;
  const int file_;
  Slots* slots_ = nullptr;
  int own_ = -1;
};

// The ledger with a slot of this process in it. A forked child takes one of its own, and leaves what it
// inherited alone.
struct Entry {
  std::mutex mutex;
  Ledger* ledger = nullptr;
  pid_t process = 0;

  bool Made() const { return ledger != nullptr && process == getpid(); }
};

Entry& TheEntry() {
  static auto* entry = new Entry;
  return *entry;
}

void LeaveAtExit() {
  Entry& entry = TheEntry();
  const std::lock_guard<std::mutex> lock(entry.mutex);
  if (entry.Made()) entry.ledger->Leave();
}

Ledger& EnteredLedger(Entry& entry) {
  while (!entry.Made()) {
    const std::string path = MachineFile("ledger");
    auto ledger = std::make_unique<Ledger>(path, OpenMachineFile(path, true));
    if (!ledger->Enter()) continue;
    entry.ledger = ledger.release();
    entry.process = getpid();
    static const int atExit = std::atexit(LeaveAtExit);
    (void)atExit;
  }
  return *entry.ledger;
}

template <class Body>
auto WithLedger(Body body) {
  Entry& entry = TheEntry();
  const std::lock_guard<std::mutex> lock(entry.mutex);
  return body(EnteredLedger(entry));
}

}  // namespace

void AttachTo(int32_t physicalDevice) {
  WithLedger([=](Ledger& ledger) { ++ledger.Own().attached[physicalDevice]; });
}

void DetachFrom(int32_t physicalDevice) {
  WithLedger([=](Ledger& ledger) { --ledger.Own().attached[physicalDevice]; });
}

bool TakeMemory(int32_t physicalDevice, uint64_t bytes, uint64_t limit) {
  return WithLedger([=](Ledger& ledger) { return ledger.Take(physicalDevice, bytes, limit); });
}

void GiveBackMemory(int32_t physicalDevice, uint64_t bytes) {
  WithLedger([=](Ledger& ledger) { ledger.Own().bytes[physicalDevice] -= bytes; });
}

uint64_t TakenMemory(int32_t physicalDevice) {
  return WithLedger([=](const Ledger& ledger) { return ledger.Taken(physicalDevice); });
}

std::vector<Use> LiveUses() {
  Entry& entry = TheEntry();
  const std::lock_guard<std::mutex> lock(entry.mutex);
  if (entry.Made()) return entry.ledger->Uses();
  const std::string path = MachineFile("ledger");
  const int file = OpenMachineFile(path, false);  // without a slot nothing is lost when it is closed again
  return file < 0 ? std::vector<Use>{} : Ledger(path, file).Uses();
}

}  // namespace simulator
