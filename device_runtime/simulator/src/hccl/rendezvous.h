#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "segment.h"
#include "settings.h"

namespace simulator::hccl {

// Ranks of several processes meet at an abstract Unix socket: it has a name but no file, so it vanishes with
// its process. The rank that opens the meeting hands the shared segment to all once the last has joined.

std::string NewMeetingName();

// Serves one meeting from a thread of its own until it is complete, or until nobody has joined for
// `patience`.
void OpenMeeting(const std::string& name, Duration patience);

struct Participant {
  uint32_t ranks;
  uint32_t rank;
  int32_t device;  // the physical one; two ranks on one device are refused
};

// Blocks until all ranks have joined. Throws HCCL_E_TIMEOUT when they have not within `patience`, HCCL_E_PARA
// when they contradict each other. Waits for a meeting that is not open yet.
std::shared_ptr<Segment> JoinMeeting(const std::string& name, const Participant& self, Duration patience);

}  // namespace simulator::hccl
