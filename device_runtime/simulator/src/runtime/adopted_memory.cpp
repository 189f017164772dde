#include "runtime/adopted_memory.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <mutex>
#include <string>
#include <system_error>
#include <utility>

#include "runtime/device.h"
#include "runtime/error.h"
#include "runtime/forked.h"

namespace simulator {
namespace {

aclError NotOffered(const std::string& why) {
  return Fail(ACL_ERROR_RT_PARAM_INVALID, "there is no such shared memory: " + why);
}

// The memory file of another process; not good when there is none, or none that this process may open.
std::shared_ptr<const OpenFile> OpenMemoryFile(pid_t owner) {
  namespace fs = std::filesystem;
  const std::string wanted = "/memfd:" + MemoryFileName(owner) + " (deleted)";
  std::error_code error;
  fs::directory_iterator descriptor("/proc/" + std::to_string(owner) + "/fd", error);
  while (!error && descriptor != fs::directory_iterator()) {
    std::error_code ignored;  // a descriptor that was closed in the meantime
    if (fs::read_symlink(descriptor->path(), ignored) == wanted) {
      return std::make_shared<const OpenFile>(open(descriptor->path().c_str(), O_RDWR | O_CLOEXEC));
    }
    descriptor.increment(error);
  }
  return std::make_shared<const OpenFile>(-1);
}

// One descriptor for all that is adopted from one process at a time.
std::shared_ptr<const OpenFile> MemoryFileOf(pid_t owner) {
  static std::mutex mutex;
  static auto* known = new std::map<ino_t, std::weak_ptr<const OpenFile>>;
  std::shared_ptr<const OpenFile> file = OpenMemoryFile(owner);
  struct stat status{};
  if (!file->Good() || fstat(file->Descriptor(), &status) != 0) return nullptr;
  const std::lock_guard<std::mutex> lock(mutex);
  std::weak_ptr<const OpenFile>& held = (*known)[status.st_ino];
  if (auto same = held.lock()) return same;
  held = file;
  return file;
}

bool IsFor(const Offer& offer, pid_t process) {
  if (offer.toAll) return true;
  const auto* end = offer.guests.begin() + std::min<size_t>(offer.guestCount, kMostGuests);
  return std::find(offer.guests.begin(), end, process) != end;
}

}  // namespace

AdoptedMemory::AdoptedMemory(Device* device, Place place, std::shared_ptr<Offer> offer)
    : Physical(device, std::move(place), offer->bytes), offer_(std::move(offer)), stamp_(offer_->stamp) {}

aclError AdoptedMemory::Adopt(OfferName name, Device* fallback, std::shared_ptr<AdoptedMemory>* memory) {
  const pid_t owner = OwnerOf(name);
  if (owner == getpid()) return NotOffered("it belongs to this process, and is to be used without sharing");
  const auto file = MemoryFileOf(owner);
  if (file == nullptr) {
    return NotOffered("process " + std::to_string(owner) + " has none, or is not visible from here");
  }
  struct stat status{};
  const off_t dataBegin = BeginOf(name) + static_cast<off_t>(kOfferBytes);
  if (fstat(file->Descriptor(), &status) != 0 || dataBegin > status.st_size)
    return NotOffered("a wrong name");
  const auto offer = MapOffer(*file, BeginOf(name));
  if (offer == nullptr) return NoHostMemory();
  // First in, then a look: an owner that leaves looks for users after it has ended the offer.
  ++offer->users;
  if (offer->stamp == 0 || !IsFor(*offer, getpid())) {
    const bool over = offer->stamp == 0;
    --offer->users;
    return NotOffered(over ? "its owner has ended the offer" : "it is not for this process");
  }
  Device* device = VisibleDevice(offer->physicalDevice);
  if (device == nullptr && offer->physicalDevice >= 0) device = fallback;
  memory->reset(new AdoptedMemory(device, Place{file, dataBegin}, offer));
  return ACL_SUCCESS;
}

AdoptedMemory::~AdoptedMemory() {
  if (IsForkedFromUser()) return;  // it is the parent's
  if (--offer_->users == 0 && offer_->ownerLeft) {
    DiscardPages(File(), Begin() - static_cast<off_t>(kOfferBytes), kOfferBytes + Bytes());
  }
}

}  // namespace simulator
