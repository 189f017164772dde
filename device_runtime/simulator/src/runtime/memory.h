#pragma once

#include <cstddef>

#include "acl/acl_base.h"

namespace simulator {

// Whether [pointer, pointer + bytes) lies in one live device allocation or mapping of this process.
ACL_FUNC_VISIBILITY bool IsDeviceMemory(const void* pointer, size_t bytes);

}  // namespace simulator
