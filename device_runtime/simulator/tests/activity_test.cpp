#include "runtime/activity.h"

#include <mutex>
#include <vector>

#include "acl/acl_rt.h"
#include "check.h"
#include "runtime/stream.h"

using namespace simulator;

namespace {

class Recorder : public ActivityListener {
 public:
  void Ran(const ActivityRun& run) override {
    const std::lock_guard<std::mutex> lock(mutex_);
    runs_.push_back(run);
  }

  std::vector<ActivityRun> Runs() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    return runs_;
  }

 private:
  mutable std::mutex mutex_;
  std::vector<ActivityRun> runs_;
};

aclrtStream Stream() {
  aclrtStream stream = nullptr;
  CHECK_OK(aclrtCreateStream(&stream));
  return stream;
}

void NobodyIsToldOfWhatRanBeforeOrAfterListening() {
  aclrtStream stream = Stream();
  void* memory = nullptr;
  CHECK_OK(aclrtMalloc(&memory, 64, ACL_MEM_MALLOC_HUGE_FIRST));
  const auto recorder = std::make_shared<Recorder>();
  CHECK_OK(aclrtMemsetAsync(memory, 64, 1, 64, stream));
  CHECK_OK(aclrtSynchronizeStream(stream));
  CHECK(!SomebodyListens());
  Listen(recorder);
  CHECK(SomebodyListens());
  CHECK_OK(aclrtMemsetAsync(memory, 64, 2, 32, stream));
  CHECK_OK(aclrtSynchronizeStream(stream));
  StopListening(*recorder);
  CHECK(!SomebodyListens());
  CHECK_OK(aclrtMemsetAsync(memory, 64, 3, 64, stream));
  CHECK_OK(aclrtSynchronizeStream(stream));
  CHECK(recorder->Runs().size() == 1);
  CHECK(recorder->Runs().front().activity.bytes == 32);
  CHECK_OK(aclrtFree(memory));
}

void ARunHasItsStreamAndItsTimesInOrder() {
  aclrtStream stream = Stream();
  int32_t id = -1;
  CHECK_OK(aclrtStreamGetId(stream, &id));
  const auto recorder = std::make_shared<Recorder>();
  Listen(recorder);
  const auto describe = [] { return Activity{ActivityKind::kOperator, "aclnnAdd", 0, {}, {}}; };
  CHECK_OK(Enqueue(stream, Observed(describe, [] { return ACL_SUCCESS; })));
  CHECK_OK(Enqueue(stream, Observed(describe, [] { return 507015; })));
  CHECK(aclrtSynchronizeStream(stream) == 507015);
  StopListening(*recorder);
  const auto runs = recorder->Runs();
  CHECK(runs.size() == 2);
  for (const ActivityRun& run : runs) {
    CHECK(run.activity.name == "aclnnAdd");
    CHECK(run.device == 0 && run.stream == id);
    CHECK(run.queued <= run.began && run.began <= run.ended);
  }
  CHECK(runs.front().ended <= runs.back().began);
  CHECK(runs.front().result == ACL_SUCCESS && runs.back().result == 507015);
}

void NothingIsDescribedForNobody() {
  bool described = false;
  const auto describe = [&described] {
    described = true;
    return Activity{ActivityKind::kOperator, "aclnnAdd", 0, {}, {}};
  };
  CHECK_OK(Enqueue(nullptr, Observed(describe, [] { return ACL_SUCCESS; })));
  CHECK_OK(aclrtSynchronizeStream(nullptr));
  CHECK(!described);
}

}  // namespace

int main() {
  CHECK_OK(aclInit(nullptr));
  CHECK_OK(aclrtSetDevice(0));
  NobodyIsToldOfWhatRanBeforeOrAfterListening();
  ARunHasItsStreamAndItsTimesInOrder();
  NothingIsDescribedForNobody();
  CHECK_OK(aclFinalize());
  return checks::Result();
}
