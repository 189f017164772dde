#include "runtime/memory_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <mutex>

namespace simulator {
namespace {

struct MemoryFile {
  std::mutex mutex;
  std::shared_ptr<const OpenFile> file;
  off_t end = 0;
};

MemoryFile& OfThisProcess() {
  static auto* file = new MemoryFile;
  return *file;
}

}  // namespace

std::optional<Place> ReservePlace(size_t bytes) {
  MemoryFile& memory = OfThisProcess();
  const std::lock_guard<std::mutex> lock(memory.mutex);
  if (memory.file == nullptr) {
    auto file = std::make_shared<const OpenFile>(memfd_create(MemoryFileName(getpid()).c_str(), MFD_CLOEXEC));
    if (!file->Good()) return std::nullopt;
    memory.file = std::move(file);
  }
  const off_t begin = memory.end;
  if (ftruncate(memory.file->Descriptor(), begin + static_cast<off_t>(bytes)) != 0) return std::nullopt;
  memory.end = begin + static_cast<off_t>(bytes);
  return Place{memory.file, begin};
}

void DiscardPages(const OpenFile& file, off_t begin, size_t bytes) {
  (void)fallocate(file.Descriptor(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, begin,
                  static_cast<off_t>(bytes));
}

std::string MemoryFileName(pid_t process) { return "simulated-npu-" + std::to_string(process); }

}  // namespace simulator
