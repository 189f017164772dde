#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>

#include "mspti.h"

namespace simulator::mspti {

// The buffers that a subscriber lends. Records are appended to one until it is full or flushed, and then
// handed back.
class Buffers {
 public:
  struct Callbacks {
    msptiBuffersCallbackRequestFunc requested = nullptr;
    msptiBuffersCallbackCompleteFunc completed = nullptr;
  };

  void SetCallbacks(const Callbacks& callbacks);

  template <typename Record>
  void Append(const Record& record) {
    Append(&record, sizeof(Record));
  }

  void Flush();

 private:
  struct Buffer {
    uint8_t* begin = nullptr;
    size_t capacity = 0;
    size_t mostRecords = 0;  // 0: as many as fit
    size_t used = 0;
    size_t records = 0;

    bool Takes(size_t bytes) const;
  };

  void Append(const void* record, size_t bytes);
  bool Write(const void* record, size_t bytes);  // whether it has room
  Buffer Replace(const Buffer& next);
  Buffer Borrow() const;
  void GiveBack(const Buffer& buffer) const;
  Callbacks CurrentCallbacks() const;

  mutable std::mutex mutex_;  // never held while a callback runs
  Callbacks callbacks_;
  Buffer current_;
};

}  // namespace simulator::mspti
