#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "acl/acl_prof.h"
#include "acl/acl_rt.h"
#include "check.h"
#include "ms_tools_ext.h"

namespace {

namespace fs = std::filesystem;

fs::path TemporaryDirectory() {
  std::string name = (fs::temp_directory_path() / "simulator-profiler-XXXXXX").string();
  return mkdtemp(name.data());
}

std::string Read(const fs::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

aclprofConfig* Config(uint64_t data) {
  uint32_t device = 0;
  return aclprofCreateConfig(&device, 1, ACL_AICORE_NONE, nullptr, data);
}

void SetMemory(aclrtStream stream) {
  void* memory = nullptr;
  CHECK_OK(aclrtMalloc(&memory, 64, ACL_MEM_MALLOC_HUGE_FIRST));
  CHECK_OK(aclrtMemsetAsync(memory, 64, 1, 64, stream));
  CHECK_OK(aclrtSynchronizeStream(stream));
  CHECK_OK(aclrtFree(memory));
}

fs::path TheProfileIn(const fs::path& directory) {
  fs::path found;
  for (const auto& entry : fs::directory_iterator(directory)) found = entry.path();
  CHECK(found.filename().string().rfind("PROF_000001_", 0) == 0);
  return found;
}

void EverythingHasItsTurn() {
  const fs::path directory = TemporaryDirectory();
  const std::string path = directory.string();
  aclprofConfig* config = Config(ACL_PROF_TASK_TIME_L0);
  CHECK(aclprofStart(config) == ACL_ERROR_PROF_NOT_RUN);
  CHECK(aclprofFinalize() == ACL_ERROR_PROF_NOT_RUN);
  CHECK_OK(aclprofInit(path.c_str(), path.size()));
  CHECK(aclprofInit(path.c_str(), path.size()) == ACL_ERROR_REPEAT_INITIALIZE);
  CHECK(aclprofStop(config) == ACL_ERROR_PROF_NOT_RUN);
  CHECK_OK(aclprofStart(config));
  CHECK(aclprofStart(config) == ACL_ERROR_PROF_ALREADY_RUN);
  CHECK(aclprofFinalize() == ACL_ERROR_PROF_ALREADY_RUN);
  CHECK_OK(aclprofStop(config));
  CHECK_OK(aclprofFinalize());
  CHECK_OK(aclprofDestroyConfig(config));
  fs::remove_all(directory);
}

void AProfileHoldsWhatRanAndWasCalledInBetween() {
  const fs::path directory = TemporaryDirectory();
  aclprofConfig* config = Config(ACL_PROF_TASK_TIME_L0 | ACL_PROF_ACL_API);
  CHECK_OK(aclprofInit(directory.c_str(), directory.string().size()));
  SetMemory(nullptr);
  CHECK_OK(aclprofStart(config));
  SetMemory(nullptr);
  CHECK_OK(aclprofStop(config));
  SetMemory(nullptr);
  CHECK_OK(aclprofFinalize());
  CHECK_OK(aclprofDestroyConfig(config));

  const fs::path profile = TheProfileIn(directory);
  const std::string runs = Read(profile / "device_0" / "data" / "runs.jsonl");
  CHECK(runs.find("aclrtMemsetAsync") != std::string::npos);
  CHECK(runs.find('\n') == runs.size() - 1);
  CHECK(Read(profile / "host" / "data" / "calls.jsonl").find("aclrtMemsetAsync") != std::string::npos);
  CHECK(Read(profile / "host" / "start_info").find("clockMonotonicRaw") != std::string::npos);
  CHECK(!fs::exists(profile / "host" / "data" / "annotations.jsonl"));
  fs::remove_all(directory);
}

void MarksAndRangesAreRecordedOnlyWhenAskedFor() {
  aclrtStream stream = nullptr;
  CHECK_OK(aclrtCreateStream(&stream));
  const mstxDomainHandle_t domain = mstxDomainCreateA("steps");
  CHECK(mstxRangeStartA("nobody profiles", stream) == 0);
  for (const uint64_t asked : {uint64_t{0}, uint64_t{ACL_PROF_MSPROFTX}}) {
    const fs::path directory = TemporaryDirectory();
    aclprofConfig* config = Config(asked);
    CHECK_OK(aclprofInit(directory.c_str(), directory.string().size()));
    CHECK_OK(aclprofStart(config));
    mstxMarkA("a \"mark\"", nullptr);
    const mstxRangeId range = mstxDomainRangeStartA(domain, "a range", stream);
    CHECK((range != 0) == (asked != 0));
    mstxDomainRangeEnd(domain, range);
    CHECK_OK(aclrtSynchronizeStream(stream));
    CHECK_OK(aclprofStop(config));
    CHECK_OK(aclprofFinalize());
    CHECK_OK(aclprofDestroyConfig(config));
    const std::string recorded = Read(TheProfileIn(directory) / "host" / "data" / "annotations.jsonl");
    CHECK(recorded.empty() == (asked == 0));
    if (asked != 0) {
      CHECK(recorded.find(R"("message":"a \"mark\"")") != std::string::npos);
      CHECK(recorded.find(R"("domain":"steps","message":"a range")") != std::string::npos);
      CHECK(recorded.find(R"("reached":)") != std::string::npos);
    }
    fs::remove_all(directory);
  }
  mstxDomainDestroy(domain);
  CHECK(mstxDomainRangeStartA(domain, "no such domain", nullptr) == 0);
}

void WhatDoesNotExistIsRefused() {
  uint32_t none = 1000;
  CHECK(aclprofCreateConfig(&none, 1, ACL_AICORE_NONE, nullptr, 0) == nullptr);
  CHECK(aclprofSetConfig(ACL_PROF_HOST_SYS, "cpu", 3) == ACL_ERROR_PROF_MODULES_UNSUPPORTED);
  CHECK(aclprofInit("/proc/no/such/place", 19) == ACL_ERROR_INVALID_FILE);
}

}  // namespace

int main() {
  CHECK_OK(aclInit(nullptr));
  CHECK_OK(aclrtSetDevice(0));
  EverythingHasItsTurn();
  AProfileHoldsWhatRanAndWasCalledInBetween();
  MarksAndRangesAreRecordedOnlyWhenAskedFor();
  WhatDoesNotExistIsRefused();
  CHECK_OK(aclFinalize());
  return checks::Result();
}
