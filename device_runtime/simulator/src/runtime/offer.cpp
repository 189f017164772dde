#include "runtime/offer.h"

#include <sys/mman.h>

#include <random>

namespace simulator {
namespace {

constexpr unsigned kPageNumberBits = 42;

}  // namespace

std::shared_ptr<Offer> MapOffer(const OpenFile& file, off_t begin) {
  void* page = mmap(nullptr, kOfferBytes, PROT_READ | PROT_WRITE, MAP_SHARED, file.Descriptor(), begin);
  if (page == MAP_FAILED) return nullptr;
  return {static_cast<Offer*>(page), [](Offer* offer) { munmap(offer, kOfferBytes); }};
}

OfferName NameOffer(pid_t owner, off_t begin) {
  return static_cast<uint64_t>(owner) << kPageNumberBits | static_cast<uint64_t>(begin) / kOfferBytes;
}

pid_t OwnerOf(OfferName name) { return static_cast<pid_t>(name >> kPageNumberBits); }

off_t BeginOf(OfferName name) {
  const uint64_t page = name & ((uint64_t{1} << kPageNumberBits) - 1);
  return static_cast<off_t>(page * kOfferBytes);
}

uint64_t StampOfThisProcess() {
  static const uint64_t stamp = [] {
    std::random_device random;
    return uint64_t{random()} << 32 | random() | 1;  // never 0
  }();
  return stamp;
}

}  // namespace simulator
