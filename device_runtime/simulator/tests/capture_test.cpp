#include <atomic>
#include <future>
#include <thread>
#include <vector>

#include "check.h"
#include "runtime/error.h"
#include "runtime/stream.h"

using simulator::Enqueue;
using simulator::EnqueueKernel;

namespace {

aclrtStream NewStream() {
  aclrtStream stream = nullptr;
  CHECK_OK(aclrtCreateStream(&stream));
  return stream;
}

aclrtEvent NewEvent() {
  aclrtEvent event = nullptr;
  CHECK_OK(aclrtCreateEventExWithFlag(&event, ACL_EVENT_SYNC));
  return event;
}

// What runs leaves a mark.
struct Marks {
  std::vector<int> seen;

  aclError Leave(aclrtStream stream, int mark) {
    return EnqueueKernel(stream, [this, mark] {
      seen.push_back(mark);
      return ACL_SUCCESS;
    });
  }
};

aclmdlRI End(aclrtStream stream) {
  aclmdlRI graph = nullptr;
  CHECK_OK(aclmdlRICaptureEnd(stream, &graph));
  return graph;
}

void Replay(aclmdlRI graph, aclrtStream stream) {
  CHECK_OK(aclmdlRIExecuteAsync(graph, stream));
  CHECK_OK(aclrtSynchronizeStream(stream));
}

aclmdlRICaptureStatus StatusOf(aclrtStream stream) {
  aclmdlRICaptureStatus status = ACL_MODEL_RI_CAPTURE_STATUS_NONE;
  aclmdlRI graph = nullptr;
  CHECK_OK(aclmdlRICaptureGetInfo(stream, &status, &graph));
  CHECK((graph != nullptr) == (status != ACL_MODEL_RI_CAPTURE_STATUS_NONE));
  return status;
}

void WhatIsCapturedRunsOnlyInReplays() {
  aclrtStream stream = NewStream();
  Marks marks;
  CHECK(StatusOf(stream) == ACL_MODEL_RI_CAPTURE_STATUS_NONE);
  CHECK_OK(aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL));
  CHECK(StatusOf(stream) == ACL_MODEL_RI_CAPTURE_STATUS_ACTIVE);
  CHECK_OK(marks.Leave(stream, 1));
  CHECK_OK(marks.Leave(stream, 2));
  aclmdlRI graph = End(stream);
  CHECK_OK(aclrtSynchronizeStream(stream));
  CHECK(marks.seen.empty());
  Replay(graph, stream);
  Replay(graph, nullptr);
  CHECK(marks.seen == std::vector<int>({1, 2, 1, 2}));
  CHECK_OK(aclmdlRIDestroy(graph));
  CHECK(aclmdlRIDestroy(graph) == ACL_ERROR_RT_INVALID_HANDLE);
  CHECK(aclmdlRIExecuteAsync(graph, stream) == ACL_ERROR_RT_INVALID_HANDLE);
  CHECK_OK(aclrtDestroyStream(stream));
}

void AFailureInAGraphFailsTheStreamItRunsOn() {
  aclrtStream stream = NewStream();
  Marks marks;
  CHECK_OK(aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL));
  CHECK_OK(Enqueue(stream, [] { return simulator::Fail(ACL_ERROR_RT_AICORE_EXCEPTION, "fault"); }));
  CHECK_OK(marks.Leave(stream, 1));
  aclmdlRI graph = End(stream);
  CHECK_OK(aclmdlRIExecuteAsync(graph, stream));
  CHECK(aclrtSynchronizeStream(stream) == ACL_ERROR_RT_AICORE_EXCEPTION);
  CHECK(marks.seen.empty());
  CHECK_OK(aclmdlRIDestroy(graph));
  CHECK_OK(aclrtDestroyStream(stream));
}

void OtherStreamsJoinThroughEvents() {
  aclrtStream origin = NewStream();
  aclrtStream other = NewStream();
  aclrtEvent fork = NewEvent();
  aclrtEvent join = NewEvent();
  Marks marks;
  CHECK_OK(aclmdlRICaptureBegin(origin, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL));
  CHECK_OK(marks.Leave(origin, 1));
  CHECK_OK(aclrtRecordEvent(fork, origin));
  CHECK_OK(aclrtStreamWaitEvent(other, fork));
  CHECK(StatusOf(other) == ACL_MODEL_RI_CAPTURE_STATUS_ACTIVE);
  CHECK_OK(marks.Leave(other, 2));
  CHECK_OK(aclrtRecordEvent(join, other));
  CHECK_OK(aclrtStreamWaitEvent(origin, join));
  aclmdlRI graph = End(origin);
  CHECK(StatusOf(other) == ACL_MODEL_RI_CAPTURE_STATUS_NONE);
  Replay(graph, origin);
  CHECK(marks.seen == std::vector<int>({1, 2}));

  CHECK_OK(marks.Leave(other, 3));  // it runs again by itself
  CHECK_OK(aclrtSynchronizeStream(other));
  CHECK(marks.seen.back() == 3);
  CHECK_OK(aclmdlRIDestroy(graph));
  for (aclrtEvent event : {fork, join}) CHECK_OK(aclrtDestroyEvent(event));
  for (aclrtStream stream : {origin, other}) CHECK_OK(aclrtDestroyStream(stream));
}

void AStreamThatIsNotJoinedSpoilsTheCapture() {
  aclrtStream origin = NewStream();
  aclrtStream other = NewStream();
  aclrtEvent event = NewEvent();
  Marks marks;
  aclmdlRI graph = &marks;
  CHECK_OK(aclmdlRICaptureBegin(origin, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL));
  CHECK_OK(aclrtRecordEvent(event, origin));
  CHECK_OK(aclrtStreamWaitEvent(other, event));
  CHECK(aclmdlRICaptureEnd(other, &graph) == ACL_ERROR_RT_STREAM_CAPTURE_UNMATCHED);
  CHECK_OK(aclrtRecordEvent(event, other));
  CHECK_OK(aclrtStreamWaitEvent(origin, event));
  CHECK_OK(marks.Leave(other, 1));  // after what was joined
  CHECK(aclmdlRICaptureEnd(origin, &graph) == ACL_ERROR_RT_STREAM_UNJOINED);
  CHECK(graph == nullptr);
  CHECK(StatusOf(origin) == ACL_MODEL_RI_CAPTURE_STATUS_NONE);
  CHECK(StatusOf(other) == ACL_MODEL_RI_CAPTURE_STATUS_NONE);
  CHECK(aclmdlRICaptureEnd(origin, &graph) == ACL_ERROR_RT_STREAM_NOT_CAPTURED);
  CHECK_OK(aclrtDestroyEvent(event));
  for (aclrtStream stream : {origin, other}) CHECK_OK(aclrtDestroyStream(stream));
}

void NobodyWaitsForWhatIsCaptured() {
  aclrtStream stream = NewStream();
  aclrtStream other = NewStream();
  aclrtEvent event = NewEvent();
  aclrtEvent outside = NewEvent();
  aclrtEvent plain = nullptr;
  aclrtStreamStatus status = ACL_STREAM_STATUS_COMPLETE;
  aclrtEventRecordedStatus recorded = ACL_EVENT_RECORDED_STATUS_NOT_READY;
  CHECK_OK(aclrtCreateEvent(&plain));
  CHECK_OK(aclrtRecordEvent(outside, other));
  CHECK_OK(aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL));
  CHECK(aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL) == ACL_ERROR_RT_STREAM_CAPTURED);
  CHECK(aclrtSynchronizeStream(stream) == ACL_ERROR_RT_STREAM_CAPTURED);
  CHECK(aclrtSynchronizeDevice() == ACL_ERROR_RT_STREAM_CAPTURED);
  CHECK(aclrtStreamQuery(stream, &status) == ACL_ERROR_RT_STREAM_CAPTURED);
  CHECK(aclrtDestroyStream(stream) == ACL_ERROR_RT_STREAM_CAPTURED);
  CHECK_OK(aclrtRecordEvent(event, stream));
  CHECK(aclrtSynchronizeEvent(event) == ACL_ERROR_RT_EVENT_CAPTURED);
  CHECK(aclrtQueryEventStatus(event, &recorded) == ACL_ERROR_RT_EVENT_CAPTURED);
  CHECK(aclrtStreamWaitEvent(stream, outside) == ACL_ERROR_RT_CAPTURE_DEPENDENCY);
  CHECK(aclrtRecordEvent(plain, stream) == ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
  CHECK(aclrtStreamWaitEvent(nullptr, event) == ACL_ERROR_RT_STREAM_CAPTURE_IMPLICIT);
  CHECK_OK(aclmdlRIDestroy(End(stream)));
  CHECK_OK(aclrtSynchronizeEvent(event));
  for (aclrtEvent each : {event, outside, plain}) CHECK_OK(aclrtDestroyEvent(each));
  for (aclrtStream each : {stream, other}) CHECK_OK(aclrtDestroyStream(each));
}

void TwoCapturesDoNotMix() {
  aclrtStream first = NewStream();
  aclrtStream second = NewStream();
  aclrtEvent event = NewEvent();
  aclmdlRI graph = nullptr;
  Marks marks;
  CHECK_OK(aclmdlRICaptureBegin(first, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL));
  CHECK_OK(aclmdlRICaptureBegin(second, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL));
  CHECK_OK(aclrtRecordEvent(event, first));
  CHECK(aclrtStreamWaitEvent(second, event) == ACL_ERROR_STREAM_CAPTURE_CONFLICT);
  CHECK(StatusOf(first) == ACL_MODEL_RI_CAPTURE_STATUS_INVALIDATED);
  CHECK(marks.Leave(first, 1) == ACL_ERROR_RT_STREAM_CAPTURE_INVALIDATED);
  CHECK(aclmdlRICaptureEnd(first, &graph) == ACL_ERROR_RT_STREAM_CAPTURE_INVALIDATED);
  CHECK_OK(aclmdlRIDestroy(End(second)));
  CHECK_OK(aclrtDestroyEvent(event));
  for (aclrtStream stream : {first, second}) CHECK_OK(aclrtDestroyStream(stream));
}

bool MayBlock() {
  char text[4] = {};
  void* memory = nullptr;
  CHECK_OK(aclrtMalloc(&memory, sizeof(text), ACL_MEM_MALLOC_NORMAL_ONLY));
  const aclError error = aclrtMemcpy(memory, sizeof(text), text, sizeof(text), ACL_MEMCPY_HOST_TO_DEVICE);
  CHECK(error == ACL_SUCCESS || error == ACL_ERROR_RT_CAPTURE_MODE_NOT_SUPPORT);
  CHECK_OK(aclrtFree(memory));
  return error == ACL_SUCCESS;
}

bool AnotherThreadMayBlock() {
  return std::async(std::launch::async,
                    [] {
                      CHECK_OK(aclrtSetDevice(0));
                      return MayBlock();
                    })
      .get();
}

void TheModeSaysWhoMayBlock() {
  aclrtStream stream = NewStream();
  CHECK(MayBlock());
  CHECK_OK(aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL));
  CHECK(!MayBlock());
  CHECK(!AnotherThreadMayBlock());
  aclmdlRICaptureMode mode = ACL_MODEL_RI_CAPTURE_MODE_RELAXED;
  CHECK_OK(aclmdlRICaptureThreadExchangeMode(&mode));
  CHECK(mode == ACL_MODEL_RI_CAPTURE_MODE_GLOBAL);
  CHECK(MayBlock());
  CHECK_OK(aclmdlRICaptureThreadExchangeMode(&mode));
  CHECK(mode == ACL_MODEL_RI_CAPTURE_MODE_RELAXED);
  CHECK_OK(aclmdlRIDestroy(End(stream)));

  CHECK_OK(aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_THREAD_LOCAL));
  CHECK(!MayBlock());
  CHECK(AnotherThreadMayBlock());
  aclmdlRI graph = nullptr;
  std::thread([&] {
    CHECK(aclmdlRICaptureEnd(stream, &graph) == ACL_ERROR_RT_STREAM_CAPTURE_WRONG_THREAD);
  }).join();
  CHECK_OK(aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_RELAXED));
  CHECK(MayBlock());
  std::thread([&] { CHECK_OK(aclmdlRICaptureEnd(stream, &graph)); }).join();
  CHECK_OK(aclmdlRIDestroy(graph));
  CHECK_OK(aclrtDestroyStream(stream));
}

void ATaskGroupCanBeUpdated() {
  aclrtStream stream = NewStream();
  aclrtStream updates = NewStream();
  aclrtTaskGrp group = nullptr;
  Marks marks;
  CHECK(aclmdlRICaptureTaskGrpBegin(stream) == ACL_ERROR_RT_STREAM_NOT_CAPTURED);
  CHECK_OK(aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL));
  CHECK_OK(marks.Leave(stream, 1));
  CHECK(aclmdlRICaptureTaskGrpEnd(stream, &group) == ACL_ERROR_STREAM_TASK_GROUP_STATUS);
  CHECK_OK(aclmdlRICaptureTaskGrpBegin(stream));
  CHECK(aclmdlRICaptureTaskGrpBegin(stream) == ACL_ERROR_STREAM_TASK_GROUP_STATUS);
  CHECK_OK(marks.Leave(stream, 2));
  CHECK(Enqueue(stream, [] { return ACL_SUCCESS; }) == ACL_ERROR_RT_TASK_TYPE_NOT_SUPPORT);
  CHECK_OK(aclmdlRICaptureTaskGrpEnd(stream, &group));
  CHECK_OK(marks.Leave(stream, 3));
  aclmdlRI graph = End(stream);

  CHECK(aclmdlRICaptureTaskUpdateEnd(updates) == ACL_ERROR_STREAM_TASK_GROUP_STATUS);
  CHECK_OK(aclmdlRICaptureTaskUpdateBegin(updates, group));
  CHECK(Enqueue(updates, [] { return ACL_SUCCESS; }) == ACL_ERROR_RT_TASK_TYPE_NOT_SUPPORT);
  CHECK_OK(marks.Leave(updates, 20));
  CHECK(marks.Leave(updates, 30) == ACL_ERROR_RT_INTERNAL_ERROR);
  CHECK_OK(aclmdlRICaptureTaskUpdateEnd(updates));
  CHECK_OK(aclrtSynchronizeStream(updates));
  CHECK(marks.seen.empty());
  Replay(graph, stream);
  CHECK(marks.seen == std::vector<int>({1, 20, 3}));

  CHECK_OK(aclmdlRICaptureTaskUpdateBegin(updates, group));
  CHECK(aclmdlRICaptureTaskUpdateEnd(updates) == ACL_ERROR_RT_INTERNAL_ERROR);  // one kernel is missing
  CHECK_OK(aclmdlRIDestroy(graph));
  CHECK(aclmdlRICaptureTaskUpdateBegin(updates, group) == ACL_ERROR_RT_INVALID_HANDLE);
  for (aclrtStream each : {stream, updates}) CHECK_OK(aclrtDestroyStream(each));
}

void AnOpenTaskGroupHoldsTheOtherStreams() {
  aclrtStream origin = NewStream();
  aclrtStream other = NewStream();
  aclrtEvent event = NewEvent();
  aclmdlRI graph = nullptr;
  Marks marks;
  CHECK_OK(aclmdlRICaptureBegin(origin, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL));
  CHECK_OK(aclmdlRICaptureTaskGrpBegin(origin));
  CHECK(aclmdlRICaptureEnd(origin, &graph) == ACL_ERROR_STREAM_TASK_GROUP_STATUS);

  CHECK_OK(aclmdlRICaptureBegin(origin, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL));
  CHECK_OK(aclrtRecordEvent(event, origin));
  CHECK_OK(aclrtStreamWaitEvent(other, event));
  CHECK_OK(aclmdlRICaptureTaskGrpBegin(origin));
  CHECK(marks.Leave(other, 1) == ACL_ERROR_STREAM_TASK_GROUP_INTR);
  CHECK(aclmdlRICaptureEnd(origin, &graph) == ACL_ERROR_RT_STREAM_CAPTURE_INVALIDATED);
  CHECK_OK(aclrtDestroyEvent(event));
  for (aclrtStream stream : {origin, other}) CHECK_OK(aclrtDestroyStream(stream));
}

// Captures a branch of `parent` that leaves the mark.
void CaptureBranch(aclmdlRI branch, Marks* marks, int mark) {
  aclrtStream stream = NewStream();
  aclmdlRI ended = nullptr;
  CHECK_OK(aclmdlRICaptureToModelRIBegin(stream, branch, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL));
  CHECK_OK(marks->Leave(stream, mark));
  CHECK_OK(aclmdlRICaptureEnd(stream, &ended));
  CHECK(ended == branch);
  CHECK(aclmdlRICaptureToModelRIBegin(stream, branch, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL) ==
        ACL_ERROR_RT_MODEL_CAPTURED);
  CHECK_OK(aclrtDestroyStream(stream));
}

void AConditionChoosesABranchInEachReplay() {
  aclrtStream stream = NewStream();
  aclmdlRICaptureStatus status = ACL_MODEL_RI_CAPTURE_STATUS_NONE;
  aclmdlRI parent = nullptr;
  aclmdlRICondHandle condition = nullptr;
  uint64_t* value = nullptr;
  uint64_t chosen = 0;
  Marks marks;
  CHECK_OK(aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL));
  CHECK_OK(aclmdlRICaptureGetInfo(stream, &status, &parent));
  CHECK_OK(aclmdlRICondHandleCreate(parent, 0, ACL_MODEL_RI_COND_HANDLE_ASSIGN_DEFAULT, &condition));
  CHECK_OK(aclmdlRICondHandleGetCondPtr(condition, &value));
  CHECK_OK(Enqueue(stream, [&] {
    *value = chosen;
    return ACL_SUCCESS;
  }));
  aclmdlRI branches[2] = {};
  aclmdlRICondTaskParams parameters{condition, ACL_MODEL_RI_COND_TYPE_IF, 3, branches};
  CHECK(aclmdlRIAddCondTask(parameters, stream, 0) == ACL_ERROR_RT_PARAM_INVALID);
  parameters.size = 2;
  CHECK_OK(aclmdlRIAddCondTask(parameters, stream, 0));
  CHECK(aclmdlRIAddCondTask(parameters, stream, 0) == ACL_ERROR_RT_PARAM_INVALID);
  CaptureBranch(branches[0], &marks, 1);
  CaptureBranch(branches[1], &marks, 2);
  CHECK_OK(marks.Leave(stream, 3));
  aclmdlRI graph = End(stream);
  CHECK(graph == parent);
  Replay(graph, stream);
  chosen = 1;
  Replay(graph, stream);
  CHECK(marks.seen == std::vector<int>({2, 3, 1, 3}));
  CHECK_OK(aclmdlRIDestroy(graph));
  CHECK(aclmdlRIDestroy(branches[0]) == ACL_ERROR_RT_INVALID_HANDLE);  // it went with its parent
  CHECK_OK(aclrtDestroyStream(stream));
}

void ALoopRunsWhileItsConditionHolds() {
  aclrtStream stream = NewStream();
  aclrtStream inner = NewStream();
  aclmdlRI parent = nullptr;
  aclmdlRI body = nullptr;
  aclmdlRICondHandle condition = nullptr;
  uint64_t* value = nullptr;
  int runs = 0;
  CHECK_OK(aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL));
  CHECK_OK(aclmdlRICaptureGetInfo(stream, nullptr, &parent));
  CHECK_OK(aclmdlRICondHandleCreate(parent, 3, ACL_MODEL_RI_COND_HANDLE_ASSIGN_DEFAULT, &condition));
  CHECK_OK(aclmdlRICondHandleGetCondPtr(condition, &value));
  CHECK_OK(aclmdlRIAddCondTask({condition, ACL_MODEL_RI_COND_TYPE_WHILE, 1, &body}, stream, 0));
  CHECK_OK(aclmdlRICaptureToModelRIBegin(inner, body, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL));
  aclmdlRI graph = nullptr;
  CHECK_OK(EnqueueKernel(inner, [&] {
    ++runs;
    --*value;
    return ACL_SUCCESS;
  }));
  CHECK_OK(aclmdlRICaptureEnd(inner, &graph));
  CHECK_OK(aclmdlRICaptureEnd(stream, &graph));
  Replay(graph, stream);
  CHECK(runs == 3);
  Replay(graph, stream);
  CHECK(runs == 6);
  CHECK_OK(aclmdlRIDestroy(graph));
  for (aclrtStream each : {stream, inner}) CHECK_OK(aclrtDestroyStream(each));
}

void ABranchHasToEndBeforeItsParent() {
  aclrtStream stream = NewStream();
  aclrtStream inner = NewStream();
  aclmdlRI parent = nullptr;
  aclmdlRI branch = nullptr;
  aclmdlRICondHandle condition = nullptr;
  CHECK_OK(aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL));
  CHECK_OK(aclmdlRICaptureGetInfo(stream, nullptr, &parent));
  CHECK_OK(aclmdlRICondHandleCreate(parent, 0, ACL_MODEL_RI_COND_HANDLE_ASSIGN_DEFAULT, &condition));
  CHECK_OK(aclmdlRIAddCondTask({condition, ACL_MODEL_RI_COND_TYPE_IF, 1, &branch}, stream, 0));
  CHECK_OK(aclmdlRICaptureToModelRIBegin(inner, branch, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL));
  aclmdlRI graph = nullptr;
  CHECK(aclmdlRICaptureEnd(stream, &graph) == ACL_ERROR_RT_SUB_ACLGRAPH_IS_CAPTURING);
  CHECK_OK(aclmdlRICaptureEnd(inner, &graph));
  for (aclrtStream each : {stream, inner}) CHECK_OK(aclrtDestroyStream(each));
}

// The value of external events is set and unset in the order of the streams, also from within a graph.
void AGraphMeetsTheWorldThroughExternalEvents() {
  aclrtStream stream = NewStream();
  aclrtStream outside = NewStream();
  aclrtEvent event = nullptr;
  Marks marks;
  CHECK_OK(aclrtCreateEventWithFlag(&event, ACL_EVENT_EXTERNAL));
  CHECK_OK(aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL));
  CHECK_OK(aclrtStreamWaitEvent(stream, event));
  CHECK_OK(aclrtResetEvent(event, stream));
  CHECK_OK(marks.Leave(stream, 1));
  aclmdlRI graph = End(stream);
  for (size_t i = 1; i <= 2; ++i) {
    CHECK_OK(aclmdlRIExecuteAsync(graph, stream));
    CHECK(aclrtSynchronizeStreamWithTimeout(stream, 50) == ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
    CHECK_OK(aclrtRecordEvent(event, outside));
    CHECK_OK(aclrtSynchronizeStream(stream));
    CHECK(marks.seen.size() == i);
  }
  CHECK_OK(aclmdlRIDestroy(graph));
  CHECK_OK(aclrtDestroyEvent(event));
  for (aclrtStream each : {stream, outside}) CHECK_OK(aclrtDestroyStream(each));
}

void ADeviceCanBeResetInTheMiddle() {
  aclrtStream stream = NewStream();
  CHECK_OK(aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL));
  CHECK_OK(aclrtResetDeviceForce(0));
  CHECK_OK(aclrtSetDevice(0));
  CHECK(MayBlock());
}

}  // namespace

int main() {
  CHECK_OK(aclrtSetDevice(0));
  WhatIsCapturedRunsOnlyInReplays();
  AFailureInAGraphFailsTheStreamItRunsOn();
  OtherStreamsJoinThroughEvents();
  AStreamThatIsNotJoinedSpoilsTheCapture();
  NobodyWaitsForWhatIsCaptured();
  TwoCapturesDoNotMix();
  TheModeSaysWhoMayBlock();
  ATaskGroupCanBeUpdated();
  AnOpenTaskGroupHoldsTheOtherStreams();
  AConditionChoosesABranchInEachReplay();
  ALoopRunsWhileItsConditionHolds();
  ABranchHasToEndBeforeItsParent();
  AGraphMeetsTheWorldThroughExternalEvents();
  ADeviceCanBeResetInTheMiddle();
  return checks::Result();
}
