#pragma once

#include <cstddef>

#include "failure.h"

namespace probe {

// Owners of what AscendCL hands out. Destructors ignore errors: there is nobody to tell.

// Whoever came first in this process may have initialised AscendCL already.
inline void Initialize() {
  static const aclError result = aclInit(nullptr);
  if (result != ACL_ERROR_REPEAT_INITIALIZE) CheckAcl(result, "aclInit");
}

// Makes a device current on this thread. Set and reset are counted by the runtime, so that other users of the
// device in this process keep theirs.
class DeviceScope {
 public:
  explicit DeviceScope(int device) : device_(device) {
    Initialize();
    CheckAcl(aclrtSetDevice(device), "aclrtSetDevice");
  }
  ~DeviceScope() { aclrtResetDevice(device_); }
  DeviceScope(const DeviceScope&) = delete;
  DeviceScope& operator=(const DeviceScope&) = delete;

 private:
  int device_;
};

class DeviceMemory {
 public:
  explicit DeviceMemory(size_t bytes) {
    CheckAcl(aclrtMalloc(&pointer_, bytes, ACL_MEM_MALLOC_HUGE_FIRST), "aclrtMalloc");
  }
  ~DeviceMemory() { aclrtFree(pointer_); }
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;
  void* get() const { return pointer_; }

 private:
  void* pointer_ = nullptr;
};

class HostMemory {
 public:
  explicit HostMemory(size_t bytes) : bytes_(bytes) {
    CheckAcl(aclrtMallocHost(&pointer_, bytes), "aclrtMallocHost");
  }
  ~HostMemory() { aclrtFreeHost(pointer_); }
  HostMemory(const HostMemory&) = delete;
  HostMemory& operator=(const HostMemory&) = delete;
  template <typename T>
  T* as() const {
    return static_cast<T*>(pointer_);
  }
  size_t bytes() const { return bytes_; }

 private:
  void* pointer_ = nullptr;
  size_t bytes_;
};

class Stream {
 public:
  Stream() { CheckAcl(aclrtCreateStream(&stream_), "aclrtCreateStream"); }
  ~Stream() { aclrtDestroyStream(stream_); }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  aclrtStream get() const { return stream_; }
  void Synchronize() const { CheckAcl(aclrtSynchronizeStream(stream_), "aclrtSynchronizeStream"); }

 private:
  aclrtStream stream_ = nullptr;
};

class Event {
 public:
  Event() { CheckAcl(aclrtCreateEvent(&event_), "aclrtCreateEvent"); }
  ~Event() { aclrtDestroyEvent(event_); }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  aclrtEvent get() const { return event_; }
  void Record(const Stream& stream) const {
    CheckAcl(aclrtRecordEvent(event_, stream.get()), "aclrtRecordEvent");
  }

 private:
  aclrtEvent event_ = nullptr;
};

}  // namespace probe
