#include <cstdio>
#include <exception>
#include <thread>
#include <vector>

#include "probe.h"
#include "resources.h"

namespace probe {
namespace {

class Communicators {
 public:
  explicit Communicators(std::vector<int> devices) : handles_(devices.size()) {
    CheckHccl(HcclCommInitAll(static_cast<uint32_t>(devices.size()), devices.data(), handles_.data()),
              "HcclCommInitAll");
  }
  ~Communicators() {
    for (HcclComm handle : handles_) HcclCommDestroy(handle);
  }
  Communicators(const Communicators&) = delete;
  Communicators& operator=(const Communicators&) = delete;
  HcclComm operator[](size_t rank) const { return handles_[rank]; }

 private:
  std::vector<HcclComm> handles_;
};

// Small whole numbers: their sums are exact in float32 for any order of adding.
float Contribution(size_t rank, size_t element) { return static_cast<float>(rank * 10 + element % 7); }

float ExpectedSum(size_t ranks, size_t element) {
  float sum = 0;
  for (size_t rank = 0; rank < ranks; ++rank) sum += Contribution(rank, element);
  return sum;
}

void RequireSums(const float* found, size_t elements, size_t ranks, int device) {
  for (size_t i = 0; i < elements; ++i) {
    const float expected = ExpectedSum(ranks, i);
    if (found[i] == expected) continue;
    char text[160];
    std::snprintf(text, sizeof(text), "element %zu of the sum on device %d is %g instead of %g", i, device,
                  static_cast<double>(found[i]), static_cast<double>(expected));
    throw Mismatch(text);
  }
}

float ReduceOnOne(HcclComm communicator, int device, size_t rank, size_t ranks, size_t elements) {
  const DeviceScope scope(device);
  const size_t bytes = elements * sizeof(float);
  const HostMemory host(bytes);
  for (size_t i = 0; i < elements; ++i) host.as<float>()[i] = Contribution(rank, i);
  const DeviceMemory send(bytes);
  const DeviceMemory receive(bytes);
  const Event begun;
  const Event ended;
  const Stream stream;
  CheckAcl(aclrtMemcpy(send.get(), bytes, host.as<void>(), bytes, ACL_MEMCPY_HOST_TO_DEVICE), "aclrtMemcpy");
  begun.Record(stream);
  CheckHccl(HcclAllReduce(send.get(), receive.get(), elements, HCCL_DATA_TYPE_FP32, HCCL_REDUCE_SUM,
                          communicator, stream.get()),
            "HcclAllReduce");
  ended.Record(stream);
  stream.Synchronize();
  CheckAcl(aclrtMemcpy(host.as<void>(), bytes, receive.get(), bytes, ACL_MEMCPY_DEVICE_TO_HOST),
           "aclrtMemcpy");
  RequireSums(host.as<float>(), elements, ranks, device);
  float milliseconds = 0;
  CheckAcl(aclrtEventElapsedTime(&milliseconds, begun.get(), ended.get()), "aclrtEventElapsedTime");
  return milliseconds;
}

}  // namespace

// A thread for each rank: setting up the links blocks a rank until its peers do the same.
std::vector<float> AllReduce(const std::vector<int>& devices, size_t elements) {
  Initialize();
  const Communicators communicators(devices);
  std::vector<float> milliseconds(devices.size());
  std::vector<std::exception_ptr> failures(devices.size());
  std::vector<std::thread> threads;
  threads.reserve(devices.size());
  for (size_t rank = 0; rank < devices.size(); ++rank) {
    threads.emplace_back([&, rank] {
      try {
        milliseconds[rank] = ReduceOnOne(communicators[rank], devices[rank], rank, devices.size(), elements);
      } catch (...) {
        failures[rank] = std::current_exception();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::exception_ptr& failure : failures) {
    if (failure) std::rethrow_exception(failure);
  }
  return milliseconds;
}

}  // namespace probe
