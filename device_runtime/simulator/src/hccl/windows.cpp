#include "windows.h"

#include <algorithm>
#include <string>

#include "failure.h"
#include "membership.h"
#include "point_to_point.h"

namespace simulator::hccl {
namespace {

uintptr_t Begin(const Window& window) { return reinterpret_cast<uintptr_t>(window.address); }
uintptr_t End(const Window& window) { return Begin(window) + window.bytes; }

bool Contains(const Window& outer, const Window& inner) {
  return Begin(outer) <= Begin(inner) && End(inner) <= End(outer);
}

bool Overlap(const Window& a, const Window& b) { return Begin(a) < End(b) && Begin(b) < End(a); }

bool OverlapsAny(const std::vector<Window>& windows, const Window& window) {
  return std::any_of(windows.begin(), windows.end(), [&](const Window& one) { return Overlap(one, window); });
}

// Removes the window that begins at the address.
void Remove(std::vector<Window>* windows, const void* address, const char* problem) {
  const auto found = std::find_if(windows->begin(), windows->end(),
                                  [&](const Window& window) { return window.address == address; });
  Require(found != windows->end(), HCCL_E_PARA, problem);
  windows->erase(found);
}

}  // namespace

void* Windows::Register(Window window) {
  const std::lock_guard<std::mutex> lock(mutex_);
  Require(user_ == nullptr, HCCL_E_NOT_SUPPORT, "memory has already been registered with this communicator");
  user_ = std::make_unique<Window>(window);
  return user_.get();
}

// As in HCCL, a handle that is not registered is no error.
void Windows::Deregister(void* handle) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (user_.get() != handle) return;
  user_.reset();
  peers_.clear();
}

void Windows::Exchange(Membership& membership, void* handle, const std::vector<uint32_t>& peers) {
  const std::lock_guard<std::mutex> lock(mutex_);
  Require(user_ != nullptr && user_.get() == handle, HCCL_E_NOT_FOUND, "the handle is not registered");
  std::map<uint32_t, Window> received;
  std::vector<Transfer> transfers;
  for (const uint32_t peer : peers) {
    Require(peer < membership.ranks(), HCCL_E_PARA,
            "peer " + std::to_string(peer) + " of " + std::to_string(membership.ranks()) + " ranks");
    if (peer == membership.rank()) continue;
    const auto transfer = [peer](Transfer::Direction direction, Window* window) {
      return Transfer{direction, reinterpret_cast<std::byte*>(window), sizeof(Window), HCCL_DATA_TYPE_INT8,
                      peer};
    };
    transfers.push_back(transfer(Transfer::Direction::kSend, user_.get()));
    transfers.push_back(transfer(Transfer::Direction::kReceive, &received[peer]));
  }
  hccl::Exchange(membership, transfers);
  peers_ = std::move(received);
}

void* Windows::RegisterSymmetric(Window window) {
  const std::lock_guard<std::mutex> lock(mutex_);
  symmetric_.push_back(std::make_unique<Window>(window));
  return symmetric_.back().get();
}

bool Windows::DeregisterSymmetric(void* handle) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = std::find_if(symmetric_.begin(), symmetric_.end(),
                                  [&](const auto& window) { return window.get() == handle; });
  if (found == symmetric_.end()) return false;
  symmetric_.erase(found);
  return true;
}

void* Windows::FindSymmetric(const void* address, uint64_t bytes, size_t* offset) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const Window wanted{const_cast<void*>(address), bytes};
  for (const auto& window : symmetric_) {
    if (!Contains(*window, wanted)) continue;
    *offset = Begin(wanted) - Begin(*window);
    return window.get();
  }
  return nullptr;
}

void Ranges::Set(Window range) {
  const std::lock_guard<std::mutex> lock(mutex_);
  Require(!OverlapsAny(ranges_, range), HCCL_E_PARA, "the range overlaps one that has been set");
  ranges_.push_back(range);
}

void Ranges::Unset(void* address) {
  const std::lock_guard<std::mutex> lock(mutex_);
  Remove(&ranges_, address, "no range that has been set begins at this address");
}

void Ranges::Activate(Window part) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const bool inside =
      std::any_of(ranges_.begin(), ranges_.end(), [&](const Window& range) { return Contains(range, part); });
  Require(inside, HCCL_E_PARA, "the memory does not lie in a range that has been set");
  Require(!OverlapsAny(active_, part), HCCL_E_PARA, "the memory overlaps memory that is active");
  active_.push_back(part);
}

void Ranges::Deactivate(void* address) {
  const std::lock_guard<std::mutex> lock(mutex_);
  Remove(&active_, address, "no active memory begins at this address");
}

Ranges& TheRanges() {
  static auto* ranges = new Ranges;  // programs may still call while the process exits
  return *ranges;
}

}  // namespace simulator::hccl
