#include <vector>

#include "pattern.h"
#include "probe.h"
#include "resources.h"

namespace probe {
namespace {

void Copy(void* destination, const void* source, size_t bytes, aclrtMemcpyKind kind) {
  CheckAcl(aclrtMemcpy(destination, bytes, source, bytes, kind), "aclrtMemcpy");
}

}  // namespace

void CopyRoundTrip(int device, size_t bytes, uint64_t seed) {
  const DeviceScope scope(device);
  const DeviceMemory first(bytes);
  const DeviceMemory second(bytes);
  std::vector<uint8_t> sent(bytes);
  std::vector<uint8_t> received(bytes);
  FillPattern(sent.data(), bytes, seed);
  Copy(first.get(), sent.data(), bytes, ACL_MEMCPY_HOST_TO_DEVICE);
  Copy(second.get(), first.get(), bytes, ACL_MEMCPY_DEVICE_TO_DEVICE);
  Copy(received.data(), second.get(), bytes, ACL_MEMCPY_DEVICE_TO_HOST);
  RequireEqual(sent.data(), received.data(), bytes, "host to device, device to device, device to host");
}

}  // namespace probe
