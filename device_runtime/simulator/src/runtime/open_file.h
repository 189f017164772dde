#pragma once

#include <unistd.h>

namespace simulator {

// A file descriptor and its end.
class OpenFile {
 public:
  explicit OpenFile(int descriptor) : descriptor_(descriptor) {}
  ~OpenFile() {
    if (descriptor_ >= 0) close(descriptor_);
  }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;

  bool Good() const { return descriptor_ >= 0; }
  int Descriptor() const { return descriptor_; }

 private:
  const int descriptor_;
};

}  // namespace simulator
