#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <functional>

#include "check.h"

// Other processes of a test. They are forked, so before the test itself uses a device.

namespace checks {

class Process {
 public:
  // Runs the body, which tells of itself by Send, in a process of its own. It exits without cleaning up.
  explicit Process(const std::function<void(Process&)>& body) {
    if (pipe(toParent_) != 0 || pipe(toChild_) != 0) std::abort();
    id_ = fork();
    if (id_ != 0) return;
    body(*this);
    std::fflush(stdout);
    _exit(Failures() == 0 ? 0 : 1);
  }

  ~Process() {
    for (const int end : {toParent_[0], toParent_[1], toChild_[0], toChild_[1]}) close(end);
  }
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  pid_t Id() const { return id_; }

  // From one side to the other.
  template <class Value>
  void SendValue(const Value& value) {
    const int end = id_ == 0 ? toParent_[1] : toChild_[1];
    if (write(end, &value, sizeof(value)) != sizeof(value)) std::abort();
  }

  template <class Value>
  Value ReceiveValue() {
    Value value{};
    const int end = id_ == 0 ? toChild_[0] : toParent_[0];
    if (read(end, &value, sizeof(value)) != sizeof(value)) std::abort();
    return value;
  }

  // To meet: any word will do.
  void Send(size_t value = 0) { SendValue(value); }
  size_t Receive() { return ReceiveValue<size_t>(); }

  void Kill() {
    kill(id_, SIGKILL);
    waitpid(id_, nullptr, 0);
  }

  bool EndsWell() {
    int status = -1;
    return waitpid(id_, &status, 0) == id_ && WIFEXITED(status) && WEXITSTATUS(status) == 0;
  }

 private:
  int toParent_[2] = {};
  int toChild_[2] = {};
  pid_t id_ = -1;
};

}  // namespace checks
