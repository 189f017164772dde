#pragma once

#include <memory>
#include <mutex>
#include <unordered_map>
#include <utility>
#include <vector>

namespace simulator {

// The live objects behind opaque handles: a handle that was never given out, or was destroyed, finds nothing.
template <class Object>
class Handles {
 public:
  void* Add(std::shared_ptr<Object> object) {
    const std::lock_guard<std::mutex> lock(mutex_);
    void* handle = object.get();
    objects_.emplace(handle, std::move(object));
    return handle;
  }

  std::shared_ptr<Object> Find(const void* handle) const {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto found = objects_.find(handle);
    return found == objects_.end() ? nullptr : found->second;
  }

  std::shared_ptr<Object> Remove(const void* handle) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto found = objects_.find(handle);
    if (found == objects_.end()) return nullptr;
    std::shared_ptr<Object> object = std::move(found->second);
    objects_.erase(found);
    return object;
  }

  std::vector<std::shared_ptr<Object>> All() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    std::vector<std::shared_ptr<Object>> all;
    all.reserve(objects_.size());
    for (const auto& entry : objects_) all.push_back(entry.second);
    return all;
  }

 private:
  mutable std::mutex mutex_;
  std::unordered_map<const void*, std::shared_ptr<Object>> objects_;
};

}  // namespace simulator
