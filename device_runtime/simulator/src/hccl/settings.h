#pragma once

#include <chrono>

#include "chip.h"

namespace simulator::hccl {

using Duration = std::chrono::milliseconds;

// How long a rank waits for the others to join: HCCL_CONNECT_TIMEOUT, from 120 to 7200 s as on hardware.
// ASCENDENV_SIM_HCCL_CONNECT_TIMEOUT takes its place, with any positive number of seconds, so that a missing
// rank can be tested without waiting two minutes.
Duration ConnectTimeout();

// How long a task waits for another rank: HCCL_EXEC_TIMEOUT, zero for ever. The values a chip takes, and what
// it makes of them, are in HCCL's documentation of the variable.
Duration ExecutionTimeout();

// How long a rank whose process has ended is waited for, as HCCL's ranks miss each other's heartbeat:
// 30 s, or ASCENDENV_SIM_HCCL_HEARTBEAT.
Duration HeartbeatTimeout();

// Whether a communicator of this chip may be given this many seconds for its tasks.
bool AcceptsExecutionTimeout(Chip chip, double seconds);

}  // namespace simulator::hccl
