#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>

#include "runtime/offer.h"
#include "runtime/physical.h"

namespace simulator {

// Memory that this process allocated. It can be offered to others.
class OwnMemory final : public Physical {
 public:
  // Takes whole pages from the budget of the device; nullptr is the host, which has none.
  static aclError Allocate(Device* device, size_t bytes, std::shared_ptr<OwnMemory>* memory);

  ~OwnMemory() override;

  // What other processes adopt it by.
  OfferName Name() const;

  // An offer stands until it is ended as often as it was made; those that adopted the memory keep it.
  aclError MakeOffer(bool toAll);
  aclError Invite(const int32_t* processes, size_t count);
  void EndOffer();

 private:
  OwnMemory(Device* device, Place place, size_t bytes);

  std::mutex mutex_;
  std::shared_ptr<Offer> offer_;  // mapped when first needed
  int made_ = 0;
};

}  // namespace simulator
