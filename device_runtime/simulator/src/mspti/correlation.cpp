#include "mspti/correlation.h"

#include <array>
#include <vector>

namespace simulator::mspti {
namespace {

std::vector<uint64_t>& StackOf(msptiExternalCorrelationKind kind) {
  thread_local std::array<std::vector<uint64_t>, MSPTI_EXTERNAL_CORRELATION_KIND_SIZE> stacks;
  return stacks.at(kind);
}

}  // namespace

bool IsExternalKind(msptiExternalCorrelationKind kind) {
  return kind > MSPTI_EXTERNAL_CORRELATION_KIND_INVALID && kind < MSPTI_EXTERNAL_CORRELATION_KIND_SIZE;
}

void PushExternal(msptiExternalCorrelationKind kind, uint64_t id) { StackOf(kind).push_back(id); }

std::optional<uint64_t> PopExternal(msptiExternalCorrelationKind kind) {
  const auto top = TopExternal(kind);
  if (top) StackOf(kind).pop_back();
  return top;
}

std::optional<uint64_t> TopExternal(msptiExternalCorrelationKind kind) {
  const auto& stack = StackOf(kind);
  return stack.empty() ? std::nullopt : std::optional(stack.back());
}

}  // namespace simulator::mspti
