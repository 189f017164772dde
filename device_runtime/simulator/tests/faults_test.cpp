#include "runtime/faults.h"

#include <cstdlib>
#include <string>

#include "check.h"
#include "process.h"
#include "runtime/stream.h"

using simulator::EnqueueKernel;
using simulator::Fault;
using simulator::ParseFaults;

namespace {

aclError Nothing() { return ACL_SUCCESS; }

std::string RecentMessage() {
  const char* message = aclGetRecentErrMsg();
  return message == nullptr ? "" : message;
}

// Every failure is labelled, and carries the text a reader of real logs knows.
void CheckFails(aclError got, aclError expected, const std::string& text) {
  CHECK(got == expected);
  const std::string message = RecentMessage();
  CHECK(message.find("[simulated CANN] ") == 0);
  CHECK(message.find(text) != std::string::npos);
}

// Faults are read once by each process, so each case has its own.
void With(const char* faults, void (*body)()) {
  checks::Process process([=](checks::Process&) {
    setenv("ASCENDENV_SIM_FAULT", faults, 1);
    setenv("ASCENDENV_SIM_DEVICES", "3", 1);
    body();
  });
  CHECK(process.EndsWell());
}

void NamesAndNumbersAreRead() {
  const auto parsed = ParseFaults("out-of-memory@2:17,link-down");
  CHECK(parsed.problem.empty());
  CHECK(parsed.requests.size() == 2);
  CHECK(parsed.requests[0].fault == Fault::kOutOfMemory);
  CHECK(parsed.requests[0].device == 2);
  CHECK(parsed.requests[0].after == 17);
  CHECK(parsed.requests[1].fault == Fault::kLinkDown);
  CHECK(parsed.requests[1].device == simulator::kEveryDevice);
  CHECK(ParseFaults("").requests.empty());
}

void NonsenseIsRefused() {
  CHECK(ParseFaults("meteor").problem.find("there are no-device, driver-missing,") != std::string::npos);
  for (const char* text : {"ecc-error@", "ecc-error@x", "ecc-error@-1", "ecc-error:", "ecc-error:1x",
                           "driver-missing@0", "no-device:3", "ecc-error,,"}) {
    const auto parsed = ParseFaults(text);
    CHECK(parsed.requests.empty());
    CHECK(parsed.problem.find(std::string("ASCENDENV_SIM_FAULT=") + text + ": ") == 0);
  }
}

template <aclError kCode>
void TheDriverDoesNotAnswer() {
  uint32_t count = 9;
  CHECK(aclInit(nullptr) == kCode);
  CHECK(aclrtGetDeviceCount(&count) == kCode);
  CHECK(count == 0);
  CheckFails(aclrtSetDevice(0), kCode, "drvGetDevNum failed");
}

void OneDeviceIsMissing() {
  uint32_t count = 0;
  CHECK_OK(aclrtGetDeviceCount(&count));
  CHECK(count == 2);
  int32_t physical = -1;
  CHECK_OK(aclrtGetLogicDevIdByUserDevId(1, &physical));
  CHECK(physical == 2);
}

void OneDeviceCannotBeOpened() {
  uint32_t count = 0;
  CHECK_OK(aclInit(nullptr));
  CHECK_OK(aclrtGetDeviceCount(&count));
  CHECK(count == 3);
  CHECK_OK(aclrtSetDevice(0));
  CheckFails(aclrtSetDevice(1), ACL_ERROR_RT_DEV_SETUP_ERROR, "Failed to open device");
}

void VersionsDoNotMatch() {
  CHECK_OK(aclInit(nullptr));
  CheckFails(aclrtSetDevice(0), ACL_ERROR_RT_DEV_SETUP_ERROR, "E30006");
}

void MemoryRunsOut() {
  CHECK_OK(aclrtSetDevice(0));
  void* block = nullptr;
  CHECK_OK(aclrtMalloc(&block, 512, ACL_MEM_MALLOC_HUGE_FIRST));
  CHECK_OK(aclrtMalloc(&block, 512, ACL_MEM_MALLOC_HUGE_FIRST));
  CHECK(aclrtMalloc(&block, 512, ACL_MEM_MALLOC_HUGE_FIRST) == ACL_ERROR_RT_MEMORY_ALLOCATION);
  CHECK(aclrtMalloc(&block, 512, ACL_MEM_MALLOC_HUGE_FIRST) == ACL_ERROR_RT_MEMORY_ALLOCATION);
  CHECK_OK(aclrtSetDevice(1));
  CHECK_OK(aclrtMalloc(&block, 512, ACL_MEM_MALLOC_HUGE_FIRST));
}

template <aclError kCode>
void TheDeviceBreaks() {
  CHECK_OK(aclrtSetDevice(1));
  CHECK_OK(EnqueueKernel(nullptr, Nothing));
  CHECK_OK(aclrtSynchronizeStream(nullptr));
  CHECK_OK(EnqueueKernel(nullptr, Nothing));
  CHECK(aclrtSynchronizeStream(nullptr) == kCode);
  CHECK(RecentMessage().find("[simulated CANN] ") == 0);
  aclrtStream other = nullptr;
  CHECK_OK(aclrtCreateStream(&other));
  CHECK(aclrtSynchronizeStream(other) == kCode);  // it is the device that broke
  CHECK(aclrtSynchronizeDevice() == kCode);
  CHECK(aclrtPeekAtLastError(ACL_RT_THREAD_LEVEL) == kCode);
  CHECK_OK(aclrtSetDevice(0));
  CHECK_OK(EnqueueKernel(nullptr, Nothing));
  CHECK_OK(aclrtSynchronizeDevice());
}

void LinksGoDown() {
  CHECK(!simulator::FaultOf(Fault::kLinkDown, 0));
  CHECK(!simulator::FaultOf(Fault::kLinkDown, 0));
  const auto failure = simulator::FaultOf(Fault::kLinkDown, 0);
  CHECK(failure && failure->code == ACL_ERROR_RT_LINK_ERROR);
  CHECK(simulator::HasFault(Fault::kLinkDown, 0));
  CHECK(!simulator::HasFault(Fault::kEccError, 0));
}

void AnUnknownNameStopsEverything() {
  CheckFails(aclInit(nullptr), ACL_ERROR_INVALID_PARAM, "no fault is called 'meteor'");
  CheckFails(aclrtSetDevice(0), ACL_ERROR_RT_INVALID_DEVICEID, "no fault is called 'meteor'");
}

}  // namespace

int main() {
  NamesAndNumbersAreRead();
  NonsenseIsRefused();
  With("no-device", TheDriverDoesNotAnswer<ACL_ERROR_RT_NO_DEVICE>);
  With("driver-missing", TheDriverDoesNotAnswer<ACL_ERROR_RT_DRV_INTERNAL_ERROR>);
  With("device-busy", TheDriverDoesNotAnswer<ACL_ERROR_RT_DRV_INTERNAL_ERROR>);
  With("permission-denied", TheDriverDoesNotAnswer<ACL_ERROR_RT_DRV_INTERNAL_ERROR>);
  With("no-device@1", OneDeviceIsMissing);
  With("device-busy@1", OneDeviceCannotBeOpened);
  With("permission-denied@1", OneDeviceCannotBeOpened);
  With("version-mismatch", VersionsDoNotMatch);
  With("out-of-memory@0:2", MemoryRunsOut);
  With("ecc-error@1:1", TheDeviceBreaks<ACL_ERROR_RT_HBM_MULTI_BIT_ECC_ERROR>);
  With("device-lost@1:1", TheDeviceBreaks<ACL_ERROR_RT_LOST_HEARTBEAT>);
  With("link-down:2", LinksGoDown);
  With("meteor", AnUnknownNameStopsEverything);
  return checks::Result();
}
