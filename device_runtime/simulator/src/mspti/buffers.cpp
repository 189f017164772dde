#include "mspti/buffers.h"

#include <cstring>
#include <utility>

namespace simulator::mspti {

bool Buffers::Buffer::Takes(size_t bytes) const {
  return begin != nullptr && used + bytes <= capacity && (mostRecords == 0 || records < mostRecords);
}

void Buffers::SetCallbacks(const Callbacks& callbacks) {
  const std::lock_guard<std::mutex> lock(mutex_);
  callbacks_ = callbacks;
}

void Buffers::Append(const void* record, size_t bytes) {
  while (!Write(record, bytes)) {
    const Buffer fresh = Borrow();
    GiveBack(Replace(fresh));
    if (!fresh.Takes(bytes)) return;  // the subscriber has no room: the record is lost
  }
}

void Buffers::Flush() { GiveBack(Replace({})); }

bool Buffers::Write(const void* record, size_t bytes) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (!current_.Takes(bytes)) return false;
  std::memcpy(current_.begin + current_.used, record, bytes);
  current_.used += bytes;
  ++current_.records;
  return true;
}

Buffers::Buffer Buffers::Replace(const Buffer& next) {
  const std::lock_guard<std::mutex> lock(mutex_);
  return std::exchange(current_, next);
}

Buffers::Buffer Buffers::Borrow() const {
  const auto requested = CurrentCallbacks().requested;
  Buffer buffer;
  if (requested != nullptr) requested(&buffer.begin, &buffer.capacity, &buffer.mostRecords);
  return buffer;
}

void Buffers::GiveBack(const Buffer& buffer) const {
  if (buffer.begin != nullptr) CurrentCallbacks().completed(buffer.begin, buffer.capacity, buffer.used);
}

Buffers::Callbacks Buffers::CurrentCallbacks() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return callbacks_;
}

}  // namespace simulator::mspti
