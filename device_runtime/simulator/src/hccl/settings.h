#pragma once

#include <chrono>

namespace simulator::hccl {

using Seconds = std::chrono::seconds;

// HCCL_CONNECT_TIMEOUT: how long a rank waits for the others to join. Default 120 s. Hardware accepts 120 to
// 7200; here any positive value is accepted, so that a missing rank can be tested without waiting two
// minutes.
Seconds ConnectTimeout();

// HCCL_EXEC_TIMEOUT: how long a task waits for another rank. Default 1836 s; 0 means for ever.
Seconds ExecutionTimeout();

}  // namespace simulator::hccl
