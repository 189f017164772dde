#pragma once

#include <sys/types.h>

#include <optional>

namespace simulator {

// Locks on single bytes of a file, each held by a process: the kernel lets go of them when the process ends,
// however it ends, and a forked child does not have its parent's. A process loses all of them as soon as it
// closes any descriptor of that file, so it must have only one.

void LockByte(int file, off_t byte);  // waits for it
bool TryLockByte(int file, off_t byte);
void UnlockByte(int file, off_t byte) noexcept;

struct ByteLock {
  off_t byte;
  pid_t holder;  // 0: a process that is not visible from here, as in another container
};

// The first lock of another process in [begin, end).
std::optional<ByteLock> FindLock(int file, off_t begin, off_t end);

}  // namespace simulator
