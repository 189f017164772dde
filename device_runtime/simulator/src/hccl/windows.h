#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "hccl/hccl_types.h"

namespace simulator::hccl {

class Membership;

// A piece of the device's memory that one rank has shown to others.
struct Window {
  void* address;
  uint64_t bytes;
};

// The memory that was registered with one communicator. Nothing is copied through it here: on hardware it
// spares a copy, or serves operators that read the memory of their peers.
class Windows {
 public:
  // The handle of HcclCommRegister, of which there may be one at a time.
  void* Register(Window window);
  void Deregister(void* handle);

  // Trades windows with the peers; each of them must do the same.
  void Exchange(Membership& membership, void* handle, const std::vector<uint32_t>& peers);

  // HcclCommSymWinRegister and its kin: any number, found again by an address that lies in one.
  void* RegisterSymmetric(Window window);
  bool DeregisterSymmetric(void* handle);
  void* FindSymmetric(const void* address, uint64_t bytes, size_t* offset);

 private:
  std::mutex mutex_;
  std::unique_ptr<Window> user_;
  std::map<uint32_t, Window> peers_;
  std::vector<std::unique_ptr<Window>> symmetric_;
};

// Reserved address ranges whose parts may be activated for copies without staging (HcclCommSetMemoryRange).
// They hold for all communicators of the process.
class Ranges {
 public:
  void Set(Window range);
  void Unset(void* address);
  void Activate(Window part);
  void Deactivate(void* address);

 private:
  std::mutex mutex_;
  std::vector<Window> ranges_;
  std::vector<Window> active_;
};

Ranges& TheRanges();

}  // namespace simulator::hccl
