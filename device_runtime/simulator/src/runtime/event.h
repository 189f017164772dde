#pragma once

#include <chrono>
#include <cstdint>
#include <memory>

#include "acl/acl_rt.h"
#include "runtime/queue.h"
#include "runtime/waiting.h"

namespace simulator {

// What an aclrtEvent is, whatever kind it is of.
class Event : public std::enable_shared_from_this<Event> {
 public:
  using Clock = std::chrono::steady_clock;

  Event();
  virtual ~Event() = default;
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;

  int32_t Id() const { return id_; }

  // Whether other processes can see it.
  virtual bool IsShared() const { return false; }

  // On a stream, in its order.
  virtual aclError Record(const std::shared_ptr<Stream>& stream) = 0;
  virtual aclError Wait(const std::shared_ptr<Stream>& stream, Milliseconds timeout) = 0;
  virtual aclError Reset(const std::shared_ptr<Stream>& stream) = 0;

  // On the host.
  virtual aclError Synchronize(Milliseconds timeout) = 0;
  virtual aclError Query(bool* complete) = 0;
  virtual aclError Time(Clock::time_point* completed) = 0;

 private:
  const int32_t id_;
};

// Each recording stands for itself. `reusable` ones may be recorded again at any time, and captured.
std::shared_ptr<Event> MakeEvent(bool timed, bool reusable);

// Set by a record and unset by a reset, both inside graphs and outside.
std::shared_ptr<Event> MakeExternalEvent();

// One that other processes can record and wait for, too.
aclError MakeIpcEvent(std::shared_ptr<Event>* event);

// How long a task may wait for an event that does not say so itself; negative for ever.
Milliseconds LongestWaitOfATask();

// What has become of a wait, as a task of a stream and as the host.
aclError TaskWaited(Waited waited);
aclError HostWaited(Waited waited);

aclError FindEvent(aclrtEvent handle, std::shared_ptr<Event>* event);
aclrtEvent AddEvent(std::shared_ptr<Event> event);

}  // namespace simulator
