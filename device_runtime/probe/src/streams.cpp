#include "pattern.h"
#include "probe.h"
#include "resources.h"

namespace probe {
namespace {

void CopyAsync(void* destination, const void* source, size_t bytes, aclrtMemcpyKind kind,
               const Stream& stream) {
  CheckAcl(aclrtMemcpyAsync(destination, bytes, source, bytes, kind, stream.get()), "aclrtMemcpyAsync");
}

}  // namespace

// The writing stream overwrites the buffer several times; only the wait keeps the reading stream from seeing
// one of the earlier patterns.
float StreamEventOrder(int device, size_t bytes) {
  constexpr int kOverwrites = 8;
  const DeviceScope scope(device);
  const HostMemory earlier(bytes);
  const HostMemory last(bytes);
  const HostMemory read(bytes);
  FillPattern(earlier.as<uint8_t>(), bytes, 1);
  FillPattern(last.as<uint8_t>(), bytes, 2);
  const DeviceMemory buffer(bytes);
  const Event begun;
  const Event written;
  const Event ended;
  const Stream writing;
  const Stream reading;

  begun.Record(writing);
  for (int i = 0; i < kOverwrites; ++i) {
    CopyAsync(buffer.get(), earlier.as<void>(), bytes, ACL_MEMCPY_HOST_TO_DEVICE, writing);
  }
  CopyAsync(buffer.get(), last.as<void>(), bytes, ACL_MEMCPY_HOST_TO_DEVICE, writing);
  written.Record(writing);
  CheckAcl(aclrtStreamWaitEvent(reading.get(), written.get()), "aclrtStreamWaitEvent");
  CopyAsync(read.as<void>(), buffer.get(), bytes, ACL_MEMCPY_DEVICE_TO_HOST, reading);
  ended.Record(reading);
  reading.Synchronize();
  writing.Synchronize();

  RequireEqual(last.as<uint8_t>(), read.as<uint8_t>(), bytes,
               "a read that waited for the event of the last write");
  float milliseconds = 0;
  CheckAcl(aclrtEventElapsedTime(&milliseconds, begun.get(), ended.get()), "aclrtEventElapsedTime");
  return milliseconds;
}

}  // namespace probe
