#include "runtime/ledger.h"

#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "check.h"
#include "process.h"

using checks::Process;

namespace {

constexpr size_t kMiB = 1 << 20;

size_t Free() {
  size_t free = 0;
  size_t total = 0;
  CHECK_OK(aclrtGetMemInfo(ACL_HBM_MEM, &free, &total));
  return free;
}

aclError Allocate(size_t bytes) {
  void* pointer = nullptr;
  return aclrtMalloc(&pointer, bytes, ACL_MEM_MALLOC_HUGE_FIRST);
}

// Takes memory, tells of it, and waits for a word.
void Hold(Process& self, int32_t device, size_t bytes) {
  CHECK_OK(aclrtSetDevice(device));
  CHECK_OK(Allocate(bytes));
  self.Send(bytes);
  self.Receive();
}

const simulator::Use* Find(const std::vector<simulator::Use>& uses, pid_t process) {
  for (const auto& use : uses) {
    if (use.process == process) return &use;
  }
  return nullptr;
}

void ALimitIsOneForAllProcesses() {
  Process other([](Process& self) { Hold(self, 0, 40 * kMiB); });
  other.Receive();
  Process looker([&other](Process& self) {
    CHECK(Find(simulator::LiveUses(), other.Id()) != nullptr);  // without using a device
    CHECK(simulator::LiveUses().size() == 1);
    CHECK_OK(aclrtSetDevice(0));
    CHECK(Free() == 24 * kMiB);
    CHECK(Allocate(25 * kMiB) == ACL_ERROR_RT_MEMORY_ALLOCATION);
    CHECK_OK(Allocate(20 * kMiB));
    const auto uses = simulator::LiveUses();
    CHECK(uses.size() == 2);
    CHECK(Find(uses, other.Id())->bytes == 40 * kMiB);
    CHECK(Find(uses, getpid())->bytes == 20 * kMiB);
    CHECK_OK(aclrtSetDevice(1));
    CHECK(Free() == 64 * kMiB);  // another device
    CHECK_OK(aclrtSetDevice(0));
    self.Send(1);
    self.Receive();
    CHECK(Free() == 44 * kMiB);  // the other was killed
    CHECK(Find(simulator::LiveUses(), other.Id()) == nullptr);
  });
  looker.Receive();
  other.Kill();
  looker.Send(1);
  CHECK(looker.EndsWell());
}

void ManyProcessesStartAtOnce() {
  std::vector<std::unique_ptr<Process>> processes(64);
  for (auto& process : processes) {
    process = std::make_unique<Process>([](Process& self) {
      self.Receive();
      CHECK_OK(aclrtSetDevice(0));
      size_t blocks = 0;
      while (Allocate(kMiB / 2) == ACL_SUCCESS) ++blocks;
      self.Send(blocks);
      self.Receive();
    });
  }
  for (const auto& process : processes) process->Send(1);
  size_t blocks = 0;
  for (const auto& process : processes) blocks += process->Receive();
  CHECK(blocks == 128);
  for (const auto& process : processes) process->Send(1);
  for (const auto& process : processes) CHECK(process->EndsWell());
  CHECK(simulator::LiveUses().empty());
}

void AForkedChildHasAnAccountOfItsOwn() {
  Process parent([](Process& self) {
    CHECK(simulator::LiveUses().empty());
    Process child([](Process& grandchild) { Hold(grandchild, 0, 8 * kMiB); });
    child.Receive();
    CHECK(simulator::LiveUses().size() == 1);
    self.Send(static_cast<size_t>(child.Id()));
    self.Receive();
  });
  const auto child = static_cast<pid_t>(parent.Receive());
  parent.Kill();
  CHECK(Find(simulator::LiveUses(), child) != nullptr);
  kill(child, SIGKILL);
  for (int i = 0; i < 5000 && !simulator::LiveUses().empty(); ++i) usleep(1000);  // the signal takes its time
  CHECK(simulator::LiveUses().empty());
}

void EachGoesByItsOwnLimit() {
  Process large([](Process& self) { Hold(self, 0, 48 * kMiB); });
  large.Receive();
  Process small([](Process&) {
    setenv("ASCENDENV_SIM_MEMORY", "32MiB", 1);
    CHECK_OK(aclrtSetDevice(0));
    CHECK(Free() == 0);
    CHECK(Allocate(kMiB) == ACL_ERROR_RT_MEMORY_ALLOCATION);
  });
  CHECK(small.EndsWell());
  large.Send(1);
  CHECK(large.EndsWell());
}

void TheLastToLeaveRemovesTheFile(const std::string& directory) {
  const auto files = [&directory] {
    const std::filesystem::directory_iterator entries(directory);
    return std::distance(begin(entries), end(entries));
  };
  Process first([](Process& self) {
    Hold(self, 0, kMiB);
    std::exit(0);
  });
  first.Receive();
  CHECK(files() == 1);
  Process second([](Process& self) {
    Hold(self, 0, kMiB);
    std::exit(0);
  });
  second.Receive();
  first.Send(1);
  CHECK(first.EndsWell());
  CHECK(files() == 1);
  second.Send(1);
  CHECK(second.EndsWell());
  CHECK(files() == 0);
}

void APlaceOfNoUseIsSaid(const std::string& directory) {
  const std::string file = directory + "/file";
  std::ofstream(file).put('\n');
  Process process([&file](Process&) {
    setenv("ASCENDENV_SIM_STATE", file.c_str(), 1);
    CHECK(aclrtSetDevice(0) == ACL_ERROR_RT_INTERNAL_ERROR);
    const char* message = aclGetRecentErrMsg();
    CHECK(message != nullptr && std::string(message).find(file) != std::string::npos);
  });
  CHECK(process.EndsWell());
  std::filesystem::remove(file);
}

}  // namespace

int main() {
  std::string directory = std::filesystem::temp_directory_path() / "simulator-ledger-XXXXXX";
  CHECK(mkdtemp(directory.data()) != nullptr);
  setenv("ASCENDENV_SIM_STATE", directory.c_str(), 1);
  setenv("ASCENDENV_SIM_MEMORY", "64MiB", 1);
  ALimitIsOneForAllProcesses();
  ManyProcessesStartAtOnce();
  AForkedChildHasAnAccountOfItsOwn();
  EachGoesByItsOwnLimit();
  TheLastToLeaveRemovesTheFile(directory);
  APlaceOfNoUseIsSaid(directory);
  std::filesystem::remove_all(directory);
  return checks::Result();
}
