#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include "membership.h"
#include "windows.h"

namespace simulator::hccl {

// The device that a rank works on.
struct Place {
  int32_t device = 0;    // as this process counts
  int32_t physical = 0;  // as the machine counts
};

// What a handle stands for. The membership behind it is replaced when the communicator is resumed: tasks of
// before keep the old one, and end with it.
class Communicator {
 public:
  // Makes the segment that the ranks share anew; all of them are in it when it returns.
  using Rejoin = std::function<std::shared_ptr<Segment>(uint32_t generation)>;

  Communicator(std::shared_ptr<Segment> segment, uint32_t rank, Identity identity, Place place,
               Duration execution_timeout, Rejoin rejoin);

  uint32_t rank() const { return rank_; }
  uint32_t ranks() const { return ranks_; }
  const std::string& name() const { return identity_.name; }
  const std::string& key() const { return identity_.key; }
  const Place& place() const { return place_; }
  Windows& windows() { return windows_; }

  // For tasks. Throws HCCL_E_SUSPENDING while suspended.
  std::shared_ptr<Membership> Current();

  // What HCCL finds out beside the tasks: a broken link, or calls of the ranks that do not match.
  HcclResult AsyncError();

  // Ends the tasks under way, and refuses new ones until all ranks resume.
  void Suspend();
  void Resume();
  void Close();

 private:
  std::shared_ptr<Membership> Enter(std::shared_ptr<Segment> segment) const;
  std::shared_ptr<Membership> Latest();

  const uint32_t rank_;
  const uint32_t ranks_;
  const Identity identity_;
  const Place place_;
  const Duration execution_timeout_;
  const Rejoin rejoin_;
  Windows windows_;
  std::mutex mutex_;
  std::shared_ptr<Membership> membership_;
  uint32_t generation_ = 0;
  bool suspended_ = false;
};

}  // namespace simulator::hccl
