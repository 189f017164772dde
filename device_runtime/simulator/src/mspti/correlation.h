#pragma once

#include <cstdint>
#include <optional>

#include "mspti.h"

// What this thread is doing in the words of the subscriber: a stack of ids for each kind.
namespace simulator::mspti {

bool IsExternalKind(msptiExternalCorrelationKind kind);
void PushExternal(msptiExternalCorrelationKind kind, uint64_t id);
std::optional<uint64_t> PopExternal(msptiExternalCorrelationKind kind);
std::optional<uint64_t> TopExternal(msptiExternalCorrelationKind kind);

}  // namespace simulator::mspti
