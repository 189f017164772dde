#include "runtime/own_memory.h"

#include <unistd.h>

#include <optional>
#include <string>
#include <utility>

#include "runtime/blocks.h"
#include "runtime/configuration.h"
#include "runtime/device.h"
#include "runtime/error.h"
#include "runtime/forked.h"

namespace simulator {
namespace {

constexpr size_t kMostBytes = size_t{1} << 46;  // no host has so much; rounding up cannot overflow

std::string InMiB(size_t bytes) { return std::to_string(bytes >> 20) + " MiB"; }

aclError OutOfMemory(const Device& device, size_t bytes) {
  return Fail(ACL_ERROR_RT_MEMORY_ALLOCATION, "device " + std::to_string(device.Id()) +
                                                  " is out of simulated memory: " + InMiB(bytes) +
                                                  " asked for, " + InMiB(device.Free()) + " of " +
                                                  InMiB(TheConfiguration().memory) + " free");
}

off_t PageBefore(off_t begin) { return begin - static_cast<off_t>(kOfferBytes); }

}  // namespace

OwnMemory::OwnMemory(Device* device, Place place, size_t bytes) : Physical(device, std::move(place), bytes) {}

aclError OwnMemory::Allocate(Device* device, size_t bytes, std::shared_ptr<OwnMemory>* memory) {
  if (device == nullptr && bytes > kMostBytes) return NoHostMemory();
  if (device != nullptr && (bytes > TheConfiguration().memory || !device->Take(WholePages(bytes)))) {
    return OutOfMemory(*device, bytes);
  }
  std::optional<Place> place = ReservePlace(kOfferBytes + WholePages(bytes));
  if (!place) {
    if (device != nullptr) device->GiveBack(WholePages(bytes));
    return NoHostMemory();
  }
  place->begin += static_cast<off_t>(kOfferBytes);
  memory->reset(new OwnMemory(device, *std::move(place), WholePages(bytes)));
  return ACL_SUCCESS;
}

OwnMemory::~OwnMemory() {
  if (IsForkedFromUser()) return;  // it is the parent's
  if (offer_ != nullptr) {
    offer_->stamp = 0;
    offer_->ownerLeft = true;
  }
  if (offer_ == nullptr || offer_->users == 0) {
    DiscardPages(File(), PageBefore(Begin()), kOfferBytes + Bytes());
  }
  if (Owner() != nullptr) Owner()->GiveBack(Bytes());
}

OfferName OwnMemory::Name() const { return NameOffer(getpid(), PageBefore(Begin())); }

aclError OwnMemory::MakeOffer(bool toAll) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (offer_ == nullptr) offer_ = MapOffer(File(), PageBefore(Begin()));
  if (offer_ == nullptr) return NoHostMemory();
  offer_->physicalDevice = Owner() == nullptr ? -1 : Owner()->PhysicalId();
  offer_->bytes = Bytes();
  if (toAll) offer_->toAll = true;
  offer_->stamp = StampOfThisProcess();
  ++made_;
  return ACL_SUCCESS;
}

aclError OwnMemory::Invite(const int32_t* processes, size_t count) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (offer_ == nullptr) return Fail(ACL_ERROR_RT_PARAM_INVALID, "the memory is not shared");
  const uint32_t invited = offer_->guestCount;
  if (count > kMostGuests - invited) {
    return Fail(ACL_ERROR_RT_OVER_LIMIT,
                "more than " + std::to_string(kMostGuests) + " processes for one piece of shared memory");
  }
  for (size_t i = 0; i < count; ++i) offer_->guests[invited + i] = processes[i];
  offer_->guestCount = invited + static_cast<uint32_t>(count);
  return ACL_SUCCESS;
}

void OwnMemory::EndOffer() {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (made_ == 0) return;
  --made_;
  if (made_ > 0) return;
  offer_->stamp = 0;
  offer_->toAll = false;
  offer_->guestCount = 0;
}

}  // namespace simulator
