#include "profiler/annotate.h"

#include <memory>
#include <mutex>
#include <unordered_map>
#include <utility>

#include "profiler/session.h"
#include "runtime/device.h"
#include "runtime/queue.h"
#include "runtime/stream.h"

namespace simulator::profiler {
namespace {

struct Range {
  std::shared_ptr<Recorder> recorder;
  aclrtStream stream = nullptr;
  std::shared_ptr<Annotation> annotation;  // shared with the tasks on the stream
};

class OpenRanges {
 public:
  uint64_t Add(Range range) {
    const std::lock_guard<std::mutex> lock(mutex_);
    ranges_.emplace(++last_, std::move(range));
    return last_;
  }

  Range Take(uint64_t id) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto found = ranges_.find(id);
    if (found == ranges_.end()) return {};
    Range range = std::move(found->second);
    ranges_.erase(found);
    return range;
  }

 private:
  std::mutex mutex_;
  std::unordered_map<uint64_t, Range> ranges_;
  uint64_t last_ = 0;
};

OpenRanges& TheOpenRanges() {
  static auto* ranges = new OpenRanges;
  return *ranges;
}

std::shared_ptr<Recorder> Interested() {
  auto recorder = TheRecorder();
  return recorder != nullptr && recorder->WantsAnnotations() ? recorder : nullptr;
}

Range Begin(std::shared_ptr<Recorder> recorder, const std::string& domain, const std::string& message,
            aclrtStream stream) {
  auto annotation = std::make_shared<Annotation>();
  annotation->domain = domain;
  annotation->message = message;
  annotation->thread = CurrentThread();
  annotation->began = MonotonicNow();
  if (stream != nullptr) {
    Enqueue(stream, [annotation] {
      annotation->device = Stream::Running()->Owner().PhysicalId();
      annotation->stream = Stream::Running()->Id();
      annotation->reached = MonotonicNow();
      return ACL_SUCCESS;
    });
  }
  return {std::move(recorder), stream, std::move(annotation)};
}

void Finish(const Range& range) {
  const auto& [recorder, stream, annotation] = range;
  if (stream == nullptr) return recorder->Annotated(*annotation);
  Enqueue(stream, [recorder = recorder, annotation = annotation] {
    annotation->left = MonotonicNow();
    recorder->Annotated(*annotation);
    return ACL_SUCCESS;
  });
}

}  // namespace

void Mark(const std::string& domain, const std::string& message, aclrtStream stream) {
  auto recorder = Interested();
  if (recorder == nullptr) return;
  const Range range = Begin(std::move(recorder), domain, message, stream);
  range.annotation->ended = range.annotation->began;
  Finish(range);
}

uint64_t StartRange(const std::string& domain, const std::string& message, aclrtStream stream) {
  auto recorder = Interested();
  if (recorder == nullptr) return 0;
  return TheOpenRanges().Add(Begin(std::move(recorder), domain, message, stream));
}

void EndRange(uint64_t id) {
  const Range range = TheOpenRanges().Take(id);
  if (range.recorder == nullptr) return;
  range.annotation->ended = MonotonicNow();
  Finish(range);
}

}  // namespace simulator::profiler
