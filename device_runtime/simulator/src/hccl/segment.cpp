#include "segment.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstring>
#include <ctime>
#include <new>
#include <string>

#include "failure.h"

namespace simulator::hccl {
namespace {

struct alignas(64) Header {
  std::atomic<int32_t> failure;
};

static_assert(std::atomic<uint32_t>::is_always_lock_free, "futexes need plain 32-bit words");

size_t StatesOffset() { return sizeof(Header); }
size_t MailboxesOffset(uint32_t ranks) { return StatesOffset() + ranks * sizeof(RankState); }
size_t SlotsOffset(uint32_t ranks) {
  return MailboxesOffset(ranks) + size_t{ranks} * ranks * sizeof(Mailbox);
}
size_t SegmentBytes(uint32_t ranks) { return SlotsOffset(ranks) + ranks * kSlotBytes; }

// Each rank locks one byte, beyond the end of the file, where nothing else can be meant.
constexpr off_t kPlaces = 1LL << 40;

// A new opening of the same file: the one that came from another rank shares its locks with that rank.
int OpenAgain(int descriptor) {
  const std::string path = "/proc/self/fd/" + std::to_string(descriptor);
  return open(path.c_str(), O_RDWR | O_CLOEXEC);
}

struct flock PlaceOf(uint32_t rank) {
  struct flock lock{};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  lock.l_start = kPlaces + rank;
  lock.l_len = 1;
  return lock;
}

long Futex(std::atomic<uint32_t>& word, int operation, uint32_t value, const timespec* timeout) {
  return syscall(SYS_futex, reinterpret_cast<uint32_t*>(&word), operation, value, timeout, nullptr, 0);
}

}  // namespace

std::shared_ptr<Segment> Segment::Create(uint32_t ranks) {
  const int descriptor = memfd_create("simulated-hccl", MFD_CLOEXEC);
  Require(descriptor >= 0, HCCL_E_SYSCALL, std::string("memfd_create: ") + std::strerror(errno));
  if (ftruncate(descriptor, static_cast<off_t>(SegmentBytes(ranks))) != 0) {
    const int reason = errno;
    close(descriptor);
    Throw(HCCL_E_MEMORY, std::string("ftruncate: ") + std::strerror(reason));
  }
  return Map(descriptor, ranks);
}

// A fresh file reads as zeros, which is the initial value of every field.
std::shared_ptr<Segment> Segment::Map(int descriptor, uint32_t ranks) {
  const size_t bytes = SegmentBytes(ranks);
  void* base = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  const int places = base == MAP_FAILED ? -1 : OpenAgain(descriptor);
  if (places < 0) {
    const int reason = errno;
    if (base != MAP_FAILED) munmap(base, bytes);
    close(descriptor);
    Throw(HCCL_E_MEMORY, std::string("mapping the memory of a communicator: ") + std::strerror(reason));
  }
  return std::shared_ptr<Segment>(
      new Segment(descriptor, places, ranks, static_cast<std::byte*>(base), bytes));
}

Segment::Segment(int descriptor, int places, uint32_t ranks, std::byte* base, size_t bytes)
    : descriptor_(descriptor), places_(places), ranks_(ranks), base_(base), bytes_(bytes) {}

Segment::~Segment() {
  munmap(base_, bytes_);
  close(places_);
  close(descriptor_);
}

// The lock goes when the process does, however it ends. A child that was forked meanwhile holds it as well,
// and only delays the news.
void Segment::Enter(uint32_t rank, int32_t device) {
  struct flock lock = PlaceOf(rank);
  Require(fcntl(places_, F_OFD_SETLK, &lock) == 0, HCCL_E_SYSCALL,
          std::string("taking the place of rank ") + std::to_string(rank) + ": " + std::strerror(errno));
  state(rank).device.store(device, std::memory_order_release);
  state(rank).process.store(getpid(), std::memory_order_release);
}

bool Segment::Present(uint32_t rank) {
  // A process does not see its own locks. One that has the segment but has not entered yet counts as absent.
  if (state(rank).process.load(std::memory_order_acquire) == getpid()) return true;
  struct flock lock = PlaceOf(rank);
  return fcntl(places_, F_OFD_GETLK, &lock) != 0 || lock.l_type != F_UNLCK;
}

std::atomic<int32_t>& Segment::failure() { return reinterpret_cast<Header*>(base_)->failure; }

RankState& Segment::state(uint32_t rank) {
  return reinterpret_cast<RankState*>(base_ + StatesOffset())[rank];
}

Mailbox& Segment::mailbox(uint32_t sender, uint32_t receiver) {
  return reinterpret_cast<Mailbox*>(base_ + MailboxesOffset(ranks_))[size_t{sender} * ranks_ + receiver];
}

std::byte* Segment::slot(uint32_t rank) { return base_ + SlotsOffset(ranks_) + rank * kSlotBytes; }

void Ring(std::atomic<uint32_t>& doorbell) {
  doorbell.fetch_add(1, std::memory_order_acq_rel);
  Futex(doorbell, FUTEX_WAKE, INT_MAX, nullptr);
}

void Listen(std::atomic<uint32_t>& doorbell, uint32_t seen, int64_t milliseconds) {
  const timespec timeout{milliseconds / 1000, (milliseconds % 1000) * 1000000};
  Futex(doorbell, FUTEX_WAIT, seen, &timeout);
}

}  // namespace simulator::hccl
