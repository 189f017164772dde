#include "runtime/device.h"

#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "check.h"
#include "process.h"
#include "runtime/configuration.h"
#include "runtime/stream.h"

namespace {

using Ids = std::vector<int32_t>;

void VisibleDevicesAreReadAsCannReadsThem() {
  using simulator::ParseVisible;
  CHECK(ParseVisible(nullptr, 3) == Ids({0, 1, 2}));
  CHECK(ParseVisible("1,2", 3) == Ids({1, 2}));
  CHECK(ParseVisible("1,x,2", 3) == Ids({1}));
  CHECK(ParseVisible("1,7", 3) == Ids({1}));
  CHECK(ParseVisible("", 3) == Ids());
  CHECK(ParseVisible("-1", 3) == Ids());
  CHECK(!ParseVisible("2,1", 3));
  CHECK(!ParseVisible("1,1", 3));
  CHECK(ParseVisible("0,1,2,0", 3) == Ids({0, 1, 2}));  // no more entries than devices are read
  CHECK(ParseVisible("0, 1", 3) == Ids({0}));
  CHECK(ParseVisible(" 0", 3) == Ids());
  CHECK(ParseVisible("0,,1", 3) == Ids({0}));
  CHECK(ParseVisible("0-2", 3) == Ids({0}));
  CHECK(ParseVisible("01,2x", 3) == Ids({1, 2}));
  CHECK(ParseVisible("0,99999999999999999999", 3) == Ids({0}));
}

void SizesAreRead() {
  using simulator::ParseBytes;
  CHECK(ParseBytes("8GiB") == size_t{8} << 30);
  CHECK(ParseBytes("512MiB") == size_t{512} << 20);
  CHECK(ParseBytes("4096") == size_t{4096});
  for (const char* wrong : {"", "0", "-1", "8GB", "GiB", "99999999999999999999", "8589934592GiB"}) {
    CHECK(!ParseBytes(wrong));
  }
}

// In a process of its own: the variable is read once.
void AWrongListIsSaid() {
  for (const char* list : {"2,1", "3", ""}) {
    checks::Process process([list](checks::Process&) {
      setenv("ASCEND_RT_VISIBLE_DEVICES", list, 1);
      uint32_t count = 7;
      CHECK(aclrtGetDeviceCount(&count) == ACL_ERROR_RT_NO_DEVICE);
      CHECK(count == 0);
      const char* message = aclGetRecentErrMsg();
      CHECK(message != nullptr &&
            std::string(message).find(std::string("ASCEND_RT_VISIBLE_DEVICES=") + list) != std::string::npos);
      CHECK(aclrtSetDevice(0) == ACL_ERROR_RT_INVALID_DEVICEID);
    });
    CHECK(process.EndsWell());
  }
}

void AChildOfAProcessWithoutADeviceMayUseOne() {
  checks::Process process([](checks::Process&) {
    CHECK_OK(aclrtSetDevice(0));
    void* block = nullptr;
    CHECK_OK(aclrtMalloc(&block, 4096, ACL_MEM_MALLOC_HUGE_FIRST));
    CHECK_OK(aclrtMemsetAsync(block, 4096, 1, 4096, nullptr));
    CHECK_OK(aclrtSynchronizeDevice());
    CHECK_OK(aclrtFree(block));
    CHECK_OK(aclrtResetDevice(0));
    CHECK(aclrtResetDevice(0) == ACL_ERROR_RT_CONTEXT_RELEASE_ERROR);
    CHECK(aclrtResetDeviceForce(0) == ACL_ERROR_RT_CONTEXT_RELEASE_ERROR);
    CHECK_OK(aclrtSetDevice(0));  // and again
    CHECK_OK(aclrtMalloc(&block, 4096, ACL_MEM_MALLOC_HUGE_FIRST));
  });
  CHECK(process.EndsWell());
}

void NothingIsSetAtFirst() {
  int32_t device = -1;
  aclrtContext context = nullptr;
  size_t bytes = 0;
  CHECK(aclrtGetDevice(&device) == ACL_ERROR_RT_CONTEXT_NULL);
  CHECK(aclrtGetCurrentContext(&context) == ACL_ERROR_RT_CONTEXT_NULL);
  CHECK(aclrtGetMemInfo(ACL_HBM_MEM, &bytes, &bytes) == ACL_ERROR_RT_CONTEXT_NULL);
  CHECK(aclrtSynchronizeDevice() == ACL_ERROR_RT_CONTEXT_NULL);
  int32_t active = -1;
  CHECK_OK(aclrtGetPrimaryCtxState(0, nullptr, &active));
  CHECK(active == 0);
}

void DevicesAreWhatTheEnvironmentSays() {
  uint32_t count = 0;
  CHECK_OK(aclrtGetDeviceCount(&count));
  CHECK(count == 2);
  CHECK(aclrtSetDevice(2) == ACL_ERROR_RT_INVALID_DEVICEID);
  CHECK(aclrtSetDevice(-1) == ACL_ERROR_RT_INVALID_DEVICEID);
  CHECK(std::string(aclrtGetSocName()) == "AscendTest");
  int32_t physical = -1;
  CHECK_OK(aclrtGetLogicDevIdByUserDevId(0, &physical));
  CHECK(physical == 1);
  int32_t user = -1;
  CHECK_OK(aclrtGetUserDevIdByLogicDevId(2, &user));
  CHECK(user == 1);
  CHECK(aclrtGetUserDevIdByLogicDevId(0, &user) == ACL_ERROR_RT_INVALID_DEVICEID);  // hidden
  CHECK_OK(aclrtGetPhyDevIdByLogicDevId(0, &physical));
  CHECK(physical == 0);
  CHECK(aclrtGetLogicDevIdByPhyDevId(3, &physical) == ACL_ERROR_RT_INVALID_DEVICEID);
  aclrtRunMode mode = ACL_DEVICE;
  CHECK_OK(aclrtGetRunMode(&mode));
  CHECK(mode == ACL_HOST);
  aclrtUuid first{};
  aclrtUuid second{};
  CHECK_OK(aclrtDeviceGetUuid(0, &first));
  CHECK_OK(aclrtDeviceGetUuid(1, &second));
  CHECK(first.bytes[15] != second.bytes[15]);
}

void ADeviceBelongsToTheThread() {
  int32_t device = -1;
  CHECK_OK(aclrtSetDevice(1));
  CHECK_OK(aclrtGetDevice(&device));
  CHECK(device == 1);
  aclrtContext context = nullptr;
  CHECK_OK(aclrtGetCurrentContext(&context));
  std::thread([context] {
    int32_t there = -1;
    CHECK(aclrtGetDevice(&there) == ACL_ERROR_RT_CONTEXT_NULL);
    CHECK_OK(aclrtSetCurrentContext(context));
    CHECK_OK(aclrtGetDevice(&there));
    CHECK(there == 1);
  }).join();
  CHECK(aclrtSetCurrentContext(&device) == ACL_ERROR_INVALID_PARAM);
}

void ContextsComeAndGo() {
  aclrtContext context = nullptr;
  CHECK_OK(aclrtCreateContext(&context, 0));
  int32_t device = -1;
  CHECK_OK(aclrtGetDevice(&device));
  CHECK(device == 0);
  CHECK_OK(aclrtDestroyContext(context));
  CHECK(aclrtDestroyContext(context) == ACL_ERROR_INVALID_PARAM);
  CHECK(aclrtGetDevice(&device) == ACL_ERROR_RT_CONTEXT_NULL);
}

void TheLastResetFreesEverything() {
  CHECK_OK(aclrtSetDevice(0));
  CHECK_OK(aclrtSetDevice(0));
  void* block = nullptr;
  aclrtStream stream = nullptr;
  CHECK_OK(aclrtMalloc(&block, 1 << 20, ACL_MEM_MALLOC_HUGE_FIRST));
  CHECK_OK(aclrtCreateStream(&stream));
  CHECK_OK(aclrtResetDevice(0));
  CHECK_OK(aclrtSynchronizeStream(stream));
  CHECK_OK(aclrtResetDevice(0));
  CHECK(aclrtSynchronizeStream(stream) == ACL_ERROR_RT_INVALID_HANDLE);
  CHECK(aclrtFree(block) == ACL_ERROR_RT_PARAM_INVALID);
  size_t free = 0;
  size_t total = 0;
  CHECK_OK(aclrtGetMemInfo(ACL_HBM_MEM, &free, &total));
  CHECK(free == total);
}

void TheDefaultStreamEndsWithItsContext() {
  aclrtContext context = nullptr;
  CHECK_OK(aclrtCreateContext(&context, 0));
  const auto held = std::make_shared<int>(0);
  CHECK_OK(simulator::Enqueue(nullptr, [held] { return ACL_SUCCESS; }));
  CHECK_OK(aclrtDestroyContext(context));
  CHECK(held.use_count() == 1);  // its task has run, and nothing holds it back
  CHECK(aclrtSynchronizeStream(nullptr) == ACL_ERROR_RT_CONTEXT_NULL);
}

void AForkedChildIsToldInsteadOfHanging() {
  CHECK_OK(aclrtSetDevice(0));
  CHECK_OK(simulator::Enqueue(nullptr, [] { return ACL_SUCCESS; }));
  CHECK_OK(aclrtSynchronizeStream(nullptr));
  void* block = nullptr;
  CHECK_OK(aclrtMalloc(&block, 4096, ACL_MEM_MALLOC_HUGE_FIRST));
  CHECK_OK(aclrtMemset(block, 4096, 7, 4096));
  const pid_t child = fork();
  if (child == 0) {
    const bool told = simulator::Enqueue(nullptr, [] { return ACL_SUCCESS; }) == ACL_ERROR_RT_CONTEXT_NULL &&
                      aclrtSynchronizeStream(nullptr) == ACL_ERROR_RT_CONTEXT_NULL &&
                      aclrtSetDevice(0) == ACL_ERROR_RT_CONTEXT_NULL &&
                      aclrtFree(block) == ACL_ERROR_RT_CONTEXT_NULL;
    _exit(told ? 0 : 1);
  }
  int status = -1;
  CHECK(waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  CHECK(static_cast<char*>(block)[0] == 7);  // still the parent's
  CHECK_OK(aclrtFree(block));
}

void TheDefaultDeviceIsEnteredWhenNeeded() {
  const std::string path = "default-device-" + std::to_string(getpid()) + ".json";
  std::ofstream(path) << R"({"dump": {}, "defaultDevice": {"default_device": "1"}})";
  CHECK_OK(aclInit(path.c_str()));
  std::remove(path.c_str());
  CHECK(aclInit(nullptr) == ACL_ERROR_REPEAT_INITIALIZE);
  std::thread([] {
    int32_t device = -1;
    CHECK(aclrtGetDevice(&device) == ACL_ERROR_RT_CONTEXT_NULL);
    CHECK_OK(aclrtSynchronizeDevice());
    CHECK_OK(aclrtGetDevice(&device));
    CHECK(device == 1);
  }).join();
  CHECK_OK(aclFinalize());
  CHECK(aclFinalize() == ACL_ERROR_UNINITIALIZE);
  CHECK(aclInit("no-such-file.json") == ACL_ERROR_INVALID_FILE);
}

}  // namespace

int main() {
  setenv("ASCENDENV_SIM_DEVICES", "3", 1);
  setenv("ASCENDENV_SIM_SOC", "AscendTest", 1);
  setenv("ASCEND_RT_VISIBLE_DEVICES", "1,2", 1);
  VisibleDevicesAreReadAsCannReadsThem();
  SizesAreRead();
  AWrongListIsSaid();
  AChildOfAProcessWithoutADeviceMayUseOne();
  NothingIsSetAtFirst();
  DevicesAreWhatTheEnvironmentSays();
  ADeviceBelongsToTheThread();
  ContextsComeAndGo();
  TheLastResetFreesEverything();
  TheDefaultStreamEndsWithItsContext();
  AForkedChildIsToldInsteadOfHanging();
  TheDefaultDeviceIsEnteredWhenNeeded();
  return checks::Result();
}
