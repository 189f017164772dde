#include <cstddef>
#include <cstring>
#include <string>

#include "acl/acl_rt.h"
#include "runtime/boundary.h"
#include "runtime/copy.h"
#include "runtime/error.h"

// Copies of a matrix, row by row. `pitch` is the distance from the start of one row to that of the next.

namespace simulator {
namespace {

struct Rows {
  void* to;
  size_t toPitch;
  const void* from;
  size_t fromPitch;
  size_t width;
  size_t height;
};

constexpr size_t kMostWidth = 5'000'000;
constexpr size_t kMostHeight = 5'242'880;

size_t Extent(const Rows& rows, size_t pitch) { return (rows.height - 1) * pitch + rows.width; }

aclError Wrong(const char* call, const char* what) {
  return Fail(ACL_ERROR_INVALID_PARAM, std::string(call) + ": " + what);
}

aclError CheckKind(const char* call, aclrtMemcpyKind kind) {
  switch (kind) {
    case ACL_MEMCPY_HOST_TO_DEVICE:
    case ACL_MEMCPY_DEVICE_TO_HOST:
    case ACL_MEMCPY_DEVICE_TO_DEVICE:
    case ACL_MEMCPY_DEFAULT:
      return ACL_SUCCESS;
    default:
      return Wrong(call, "only between host and device, or within a device");
  }
}

aclError Check(const char* call, const Rows& rows, aclrtMemcpyKind kind) {
  if (rows.to == nullptr || rows.from == nullptr) return Wrong(call, "a null pointer");
  if (rows.width > rows.toPitch || rows.width > rows.fromPitch) return Wrong(call, "rows overlap");
  if (rows.width > kMostWidth || rows.height > kMostHeight) return Wrong(call, "the matrix is too large");
  if (const aclError error = CheckKind(call, kind)) return error;
  const Route route = RouteOf(kind);
  const bool fits = rows.toPitch <= SIZE_MAX / kMostHeight && rows.fromPitch <= SIZE_MAX / kMostHeight &&
                    LiesOn(rows.to, Extent(rows, rows.toPitch), route.to) &&
                    LiesOn(rows.from, Extent(rows, rows.fromPitch), route.from);
  if (fits) return ACL_SUCCESS;
  return Fail(ACL_ERROR_RT_PARAM_INVALID, std::string(call) + ": the rows do not lie in device memory");
}

void Run(const Rows& rows) {
  auto* to = static_cast<char*>(rows.to);
  const auto* from = static_cast<const char*>(rows.from);
  for (size_t row = 0; row < rows.height; ++row) {
    std::memmove(to + row * rows.toPitch, from + row * rows.fromPitch, rows.width);
  }
}

}  // namespace
}  // namespace simulator

using namespace simulator;

aclError aclrtMemcpy2d(void* destination, size_t destinationPitch, const void* source, size_t sourcePitch,
                       size_t width, size_t height, aclrtMemcpyKind kind) {
  return Guarded("aclrtMemcpy2d", [&]() -> aclError {
    if (width == 0 || height == 0) return ACL_SUCCESS;
    const Rows rows{destination, destinationPitch, source, sourcePitch, width, height};
    if (const aclError error = AllowNow("aclrtMemcpy2d")) return error;
    if (const aclError error = Check("aclrtMemcpy2d", rows, kind)) return error;
    Run(rows);
    return ACL_SUCCESS;
  });
}

aclError aclrtMemcpy2dAsync(void* destination, size_t destinationPitch, const void* source,
                            size_t sourcePitch, size_t width, size_t height, aclrtMemcpyKind kind,
                            aclrtStream stream) {
  return Guarded("aclrtMemcpy2dAsync", [&]() -> aclError {
    if (width == 0 || height == 0) return ACL_SUCCESS;
    const Rows rows{destination, destinationPitch, source, sourcePitch, width, height};
    if (const aclError error = Check("aclrtMemcpy2dAsync", rows, kind)) return error;
    const bool pageable = IsPageable(destination, Extent(rows, destinationPitch)) ||
                          IsPageable(source, Extent(rows, sourcePitch));
    return QueueCopy({"aclrtMemcpy2dAsync", width * height, pageable, [rows] { Run(rows); }}, stream);
  });
}
