#pragma once

#include <cstdint>
#include <memory>

#include "runtime/offer.h"
#include "runtime/physical.h"

namespace simulator {

// Memory that another process offers. It stays on the account of that one.
class AdoptedMemory final : public Physical {
 public:
  // For this process it is on the physical device it really is on, if that is visible, or else on `fallback`.
  static aclError Adopt(OfferName name, Device* fallback, std::shared_ptr<AdoptedMemory>* memory);

  ~AdoptedMemory() override;

  // Whose it is: the same for all memory of one owner, and different from that of any other.
  uint64_t Stamp() const { return stamp_; }

 private:
  AdoptedMemory(Device* device, Place place, std::shared_ptr<Offer> offer);

  const std::shared_ptr<Offer> offer_;
  const uint64_t stamp_;
};

}  // namespace simulator
