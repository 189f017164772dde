#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <thread>

#include "acl/acl_rt.h"
#include "runtime/graph.h"
#include "runtime/task.h"

namespace simulator {

class Stream;

// Streams that write their tasks into a graph instead of running them: the one that the capture began on, and
// those that joined it by waiting for an event recorded in it.
class Capture : public std::enable_shared_from_this<Capture> {
 public:
  // How many tasks of each stream came before, by the id of the stream.
  using Moment = std::map<int32_t, uint64_t>;

  // What a stream is captured by from now on.
  static aclError Begin(const std::shared_ptr<Stream>& origin, std::shared_ptr<Graph> graph,
                        aclmdlRICaptureMode mode);

  // Ends the capture on the stream that it began on. It has to be valid, and all streams joined to that one.
  static aclError End(Stream& stream);

  // Lets go of the stream, which is destroyed; the capture is of no use any more.
  void Abandon(Stream& stream);

  const std::shared_ptr<Graph>& Into() const { return graph_; }
  aclmdlRICaptureMode Mode() const { return mode_; }
  std::thread::id Thread() const { return thread_; }
  aclmdlRICaptureStatus Status() const;

  aclError Add(const Stream& stream, Task task, const TaskLabel& label);
  aclError Record(const Stream& stream, int32_t event, Moment* moment);
  aclError Wait(const std::shared_ptr<Stream>& stream, int32_t event, const Moment& moment);

  aclError BeginGroup(const Stream& stream);
  aclError EndGroup(const Stream& stream, aclrtTaskGrp* handle);

 private:
  struct Lane {
    std::shared_ptr<Stream> stream;
    Moment before;                     // what the next task comes after
    std::shared_ptr<TaskGroup> group;  // the open one, if any
  };

  Capture(const Stream& origin, std::shared_ptr<Graph> graph, aclmdlRICaptureMode mode);

  aclError FindLane(const Stream& stream, Lane** lane);  // to go on capturing
  aclError CheckValid() const;
  aclError CheckGroups(const Lane& lane);
  aclError CheckComplete() const;
  aclError Invalidate(aclError error);
  aclError Close();
  void Release();

  const std::shared_ptr<Graph> graph_;
  const aclmdlRICaptureMode mode_;
  const int32_t origin_;
  const std::thread::id thread_ = std::this_thread::get_id();
  mutable std::mutex mutex_;
  std::map<int32_t, Lane> lanes_;  // by the id of the stream
  bool valid_ = true;
};

// The capture under way that writes into this graph, if any.
std::shared_ptr<Capture> CaptureInto(const Graph& graph);

// Whether this thread may make a call that blocks it: not while it, or in the global mode anybody, captures.
aclError AllowBlocking(const char* call);

// Sets how this thread sees captures and returns how it did.
aclmdlRICaptureMode ExchangeCaptureMode(aclmdlRICaptureMode mode);

}  // namespace simulator
