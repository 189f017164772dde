#pragma once

#include <optional>
#include <string>

#include "hccl/hccl_comm.h"
#include "settings.h"

namespace simulator::hccl {

// What a caller may choose for one communicator and has a meaning here. The sizes of buffers, algorithms,
// expansion modes and qualities of service have none: they are checked and left.
struct CommChoices {
  std::string name;  // empty: the library chooses one
  std::optional<Duration> execution_timeout;
};

// Reads the fields that the caller's version of the structure has. Throws HCCL_E_PARA for a value that HCCL
// refuses; an execution timeout out of range is passed over, as HCCL does.
CommChoices ReadCommConfig(const HcclCommConfig* config);

}  // namespace simulator::hccl
