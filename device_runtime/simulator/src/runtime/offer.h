#pragma once

#include <sys/types.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "acl/acl_base.h"
#include "runtime/memory_file.h"

namespace simulator {

// How memory is shared with other processes: what they must know of it stands in the page before it in the
// memory file of its owner, which processes of the same user find under /proc.

constexpr size_t kOfferBytes = 4096;
constexpr size_t kMostGuests = 512;

// Zeros at first: no offer.
struct Offer {
  std::atomic<uint64_t> stamp;  // of the owner while the offer stands; tells a stale name from a new one
  std::atomic<bool> toAll;      // not only to `guests`
  std::atomic<bool> ownerLeft;  // the last user gives the pages back to the host
  std::atomic<uint32_t> users;  // adoptions in other processes
  std::atomic<uint32_t> guestCount;
  std::array<std::atomic<int32_t>, kMostGuests> guests;  // process ids
  int32_t physicalDevice;                                // -1: memory of the host
  uint64_t bytes;
};

static_assert(sizeof(Offer) <= kOfferBytes);

// The offer at a place in a memory file, for as long as this is held; nullptr when the host refuses.
std::shared_ptr<Offer> MapOffer(const OpenFile& file, off_t begin);

// Names an offer among the processes of a machine: 22 bits of process id, 42 bits of page number.
using OfferName = uint64_t;

OfferName NameOffer(pid_t owner, off_t begin);
pid_t OwnerOf(OfferName name);
off_t BeginOf(OfferName name);

// Different in every process.
uint64_t StampOfThisProcess();

}  // namespace simulator
