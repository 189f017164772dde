#include "runtime/machine.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>

#include "runtime/tree.h"

namespace simulator {
namespace {

[[noreturn]] void GiveUp(const std::string& path, const char* why) {
  throw std::runtime_error("the account of simulated memory cannot be kept in " + path + ": " + why +
                           " (ASCENDENV_SIM_STATE names another directory)");
}

// FNV-1a, 64 bits: the same in every process, which std::hash does not promise.
std::string Digest(const std::string& text) {
  uint64_t hash = 0xcbf29ce484222325;
  for (const char character : text) hash = (hash ^ static_cast<unsigned char>(character)) * 0x100000001b3;
  std::array<char, 17> digits{};
  std::snprintf(digits.data(), digits.size(), "%016llx", static_cast<unsigned long long>(hash));
  return digits.data();
}

bool IsWritableDirectory(const char* path) { return access(path, W_OK | X_OK) == 0; }

std::string ChosenDirectory(const std::string& path) {
  if (mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) GiveUp(path, std::strerror(errno));
  if (!IsWritableDirectory(path.c_str())) GiveUp(path, std::strerror(errno));
  return path;
}

}  // namespace

std::string MachineFile(const std::string& purpose) {
  const char* chosen = std::getenv("ASCENDENV_SIM_STATE");
  if (chosen != nullptr && *chosen != '\0') return ChosenDirectory(chosen) + "/simulated-npu-" + purpose;
  const std::string name =
      "/simulated-npu-" + std::to_string(geteuid()) + "-" + Digest(TreeHome()) + "-" + purpose;
  for (const char* directory : {"/dev/shm", "/tmp"}) {  // the same for all, so not TMPDIR
    if (IsWritableDirectory(directory)) return directory + name;
  }
  GiveUp("/dev/shm or /tmp", "neither can be written");
}

int OpenMachineFile(const std::string& path, bool create) {
  const int file = open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW | (create ? O_CREAT : 0), 0600);
  if (file < 0 && errno == ENOENT && !create) return -1;
  if (file < 0) GiveUp(path, std::strerror(errno));
  struct stat status{};
  if (fstat(file, &status) == 0 && S_ISREG(status.st_mode) && status.st_uid == geteuid()) return file;
  close(file);
  GiveUp(path, "it is not a file of this user");
}

}  // namespace simulator
