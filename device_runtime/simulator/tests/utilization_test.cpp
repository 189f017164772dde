// How busy a device was, and how full it is.
#include <future>

#include "check.h"
#include "runtime/stream.h"

namespace {

aclrtUtilizationInfo Ask() {
  aclrtUtilizationInfo info{};
  CHECK_OK(aclrtGetDeviceUtilizationRate(0, &info));
  return info;
}

void KernelsAreWhatADeviceIsBusyWith() {
  std::promise<void> started, ended;
  CHECK_OK(simulator::EnqueueKernel(nullptr, [&] {
    started.set_value();
    ended.get_future().wait();
    return ACL_SUCCESS;
  }));
  started.get_future().wait();
  Ask();
  CHECK(Ask().vectorUtilization == 100);
  ended.set_value();
  CHECK_OK(aclrtSynchronizeStream(nullptr));
  Ask();
  CHECK(Ask().vectorUtilization == 0);
}

void OtherTasksAreNot() {
  std::promise<void> started, ended;
  CHECK_OK(simulator::Enqueue(nullptr, [&] {
    started.set_value();
    ended.get_future().wait();
    return ACL_SUCCESS;
  }));
  started.get_future().wait();
  Ask();
  CHECK(Ask().vectorUtilization == 0);
  ended.set_value();
  CHECK_OK(aclrtSynchronizeStream(nullptr));
}

void MemoryIsAShareOfTheLimit() {
  size_t free = 0;
  size_t total = 0;
  void* block = nullptr;
  CHECK(Ask().memoryUtilization == 0);
  CHECK_OK(aclrtGetMemInfo(ACL_HBM_MEM, &free, &total));
  CHECK_OK(aclrtMalloc(&block, total / 4, ACL_MEM_MALLOC_HUGE_FIRST));
  CHECK(Ask().memoryUtilization == 25);
  CHECK_OK(aclrtFree(block));
}

void WhatIsNotKnownIsNotSupported() {
  CHECK(Ask().cubeUtilization == -1);
  CHECK(Ask().aicpuUtilization == -1);
  CHECK(aclrtGetDeviceUtilizationRate(0, nullptr) == ACL_ERROR_INVALID_PARAM);
  aclrtUtilizationInfo info{};
  CHECK(aclrtGetDeviceUtilizationRate(99, &info) == ACL_ERROR_RT_INVALID_DEVICEID);
}

}  // namespace

int main() {
  CHECK_OK(aclrtSetDevice(0));
  KernelsAreWhatADeviceIsBusyWith();
  OtherTasksAreNot();
  MemoryIsAShareOfTheLimit();
  WhatIsNotKnownIsNotSupported();
  return checks::Result();
}
