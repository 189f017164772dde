#pragma once

#include <sys/types.h>

#include <cstddef>
#include <memory>
#include <optional>
#include <string>

#include "runtime/open_file.h"

namespace simulator {

// The anonymous file that all device memory of this process lies in: one descriptor, however much there is.
// Its pages come into being when they are touched, and places in it are never used again, so that a stale
// handle cannot mean newer memory.

struct Place {
  std::shared_ptr<const OpenFile> file;
  off_t begin = 0;
};

// Room for so many bytes; nothing when the host refuses.
std::optional<Place> ReservePlace(size_t bytes);

// Gives the pages back to the host; they read as zeros from then on.
void DiscardPages(const OpenFile& file, off_t begin, size_t bytes);

// The name that the kernel shows for the file of a process, for others to find it.
std::string MemoryFileName(pid_t process);

}  // namespace simulator
