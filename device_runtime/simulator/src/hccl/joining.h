#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "comm_config.h"
#include "communicator.h"

namespace simulator::hccl {

// The ways in which ranks become a communicator. Each call blocks until all ranks have made it.

// The device that is set on this thread; throws HCCL_E_RUNTIME when none is.
Place CurrentPlace();

struct JoinRequest {
  std::string meeting;
  Place place;
  uint32_t ranks;
  uint32_t rank;
  CommChoices choices;
};

// The meeting has been opened by the root.
std::shared_ptr<Communicator> Join(const JoinRequest& request);

// The ranks are those of a file in the form of RANK_TABLE_FILE.
std::shared_ptr<Communicator> JoinByRankTable(const char* file, uint32_t rank, const CommChoices& choices);

// A rank on each of the devices, all in this process.
std::vector<std::shared_ptr<Communicator>> JoinAll(const std::vector<int32_t>& devices);

// A communicator among `members`, ranks of the parent; `id` tells apart those without a name of their own.
std::shared_ptr<Communicator> JoinPart(const Communicator& parent, const std::vector<uint32_t>& members,
                                       uint64_t id, uint32_t rank, const CommChoices& choices);

}  // namespace simulator::hccl
