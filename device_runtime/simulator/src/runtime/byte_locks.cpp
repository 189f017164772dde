#include "runtime/byte_locks.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace simulator {
namespace {

struct flock Range(int16_t type, off_t begin, off_t end) {
  struct flock range{};
  range.l_type = type;
  range.l_whence = SEEK_SET;
  range.l_start = begin;
  range.l_len = end - begin;
  return range;
}

bool Apply(int file, int command, struct flock& range) {
  while (fcntl(file, command, &range) != 0) {
    if (errno == EAGAIN || errno == EACCES) return false;
    if (errno != EINTR) throw std::system_error(errno, std::generic_category(), "locking the ledger");
  }
  return true;
}

}  // namespace

void LockByte(int file, off_t byte) {
  auto range = Range(F_WRLCK, byte, byte + 1);
  Apply(file, F_SETLKW, range);
}

bool TryLockByte(int file, off_t byte) {
  auto range = Range(F_WRLCK, byte, byte + 1);
  return Apply(file, F_SETLK, range);
}

void UnlockByte(int file, off_t byte) noexcept {
  auto range = Range(F_UNLCK, byte, byte + 1);
  (void)fcntl(file, F_SETLK, &range);
}

std::optional<ByteLock> FindLock(int file, off_t begin, off_t end) {
  if (begin >= end) return std::nullopt;
  auto range = Range(F_WRLCK, begin, end);
  Apply(file, F_GETLK, range);
  if (range.l_type == F_UNLCK) return std::nullopt;
  return ByteLock{range.l_start, range.l_pid > 0 ? range.l_pid : 0};
}

}  // namespace simulator
