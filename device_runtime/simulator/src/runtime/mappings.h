#pragma once

#include <memory>

#include "runtime/virtual_memory.h"

namespace simulator {

// Which physical memory aclrtMapMem has put where.

void NoteMapping(const void* address, std::shared_ptr<PhysicalHandle> handle);
std::shared_ptr<PhysicalHandle> FindMapping(const void* address);  // nullptr when it is no mapping's start
void ForgetMapping(const void* address);

}  // namespace simulator
