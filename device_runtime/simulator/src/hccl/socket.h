#pragma once

#include <chrono>
#include <string>

#include "failure.h"

namespace simulator::hccl {

// Unix sockets at abstract addresses: they have a name but no file, so they vanish with their process.

using Clock = std::chrono::steady_clock;

class Socket {
 public:
  explicit Socket(int descriptor) : descriptor_(descriptor) {}
  ~Socket();
  Socket(Socket&& other) noexcept : descriptor_(other.descriptor_) { other.descriptor_ = -1; }
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;
  int get() const { return descriptor_; }

 private:
  int descriptor_;
};

Socket ListenAt(const std::string& name, int backlog);

// Tries until somebody listens there; a socket without a descriptor when the deadline passes.
Socket ConnectTo(const std::string& name, Clock::time_point deadline);

bool Readable(const Socket& socket, Clock::time_point deadline);

// A code and a reason, and with success a descriptor.
struct Answer {
  int32_t code;
  char reason[480];
};

void SendAnswer(const Socket& connection, const Answer& answer, int descriptor);

// Returns the descriptor; throws the code and the reason when there are such.
int ReceiveAnswer(const Socket& connection);

}  // namespace simulator::hccl
