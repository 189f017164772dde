// Communicators whose ranks are threads of this process, so that the sanitizers see all sides.

#include "hccl/hccl.h"

#include <array>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "check.h"

namespace {

constexpr uint32_t kRanks = 4;
constexpr uint64_t kCount = 1000;

// A rank's device, stream and buffer of kCount numbers for each rank.
struct Rank {
  uint32_t rank = 0;
  HcclComm comm = nullptr;
  aclrtStream stream = nullptr;
  int32_t* buffer = nullptr;

  void Fill(int32_t value) const {
    std::vector<int32_t> values(kCount * kRanks, value);
    const size_t bytes = values.size() * sizeof(int32_t);
    CHECK_OK(aclrtMemcpy(buffer, bytes, values.data(), bytes, ACL_MEMCPY_HOST_TO_DEVICE));
  }

  int32_t At(size_t index) const {
    int32_t value = 0;
    CHECK_OK(aclrtMemcpy(&value, sizeof(value), buffer + index, sizeof(value), ACL_MEMCPY_DEVICE_TO_HOST));
    return value;
  }

  void Wait() const { CHECK_OK(aclrtSynchronizeStream(stream)); }
};

void Open(Rank* rank) {
  CHECK_OK(aclrtSetDevice(static_cast<int32_t>(rank->rank)));
  CHECK_OK(aclrtCreateStream(&rank->stream));
  void* memory = nullptr;
  CHECK_OK(aclrtMalloc(&memory, kCount * kRanks * sizeof(int32_t), ACL_MEM_MALLOC_NORMAL_ONLY));
  rank->buffer = static_cast<int32_t*>(memory);
}

void Close(const Rank& rank) {
  CHECK_OK(aclrtFree(rank.buffer));
  CHECK_OK(aclrtDestroyStream(rank.stream));
}

// Runs the work as every rank at once, in a new communicator.
void WithRanks(const std::function<void(const Rank&)>& work) {
  std::array<int32_t, kRanks> devices{0, 1, 2, 3};
  std::array<HcclComm, kRanks> comms{};
  CHECK(HcclCommInitAll(kRanks, devices.data(), comms.data()) == HCCL_SUCCESS);
  std::vector<std::thread> threads;
  threads.reserve(kRanks);
  for (uint32_t index = 0; index < kRanks; ++index) {
    threads.emplace_back([&, index] {
      Rank rank;
      rank.rank = index;
      rank.comm = comms[index];
      Open(&rank);
      work(rank);
      Close(rank);
      CHECK(HcclCommDestroy(rank.comm) == HCCL_SUCCESS);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

void Reduce(const Rank& rank) {
  rank.Fill(1 << rank.rank);
  for (int turn = 0; turn < 5; ++turn) {
    CHECK(HcclAllReduce(rank.buffer, rank.buffer, kCount, HCCL_DATA_TYPE_INT32, HCCL_REDUCE_MAX, rank.comm,
                        rank.stream) == HCCL_SUCCESS);
  }
  rank.Wait();
  CHECK(rank.At(0) == 1 << (kRanks - 1));
  CHECK(rank.At(kCount - 1) == 1 << (kRanks - 1));
}

void Gather(const Rank& rank) {
  rank.Fill(static_cast<int32_t>(rank.rank) + 10);
  CHECK(HcclAllGather(rank.buffer, rank.buffer, kCount, HCCL_DATA_TYPE_INT32, rank.comm, rank.stream) ==
        HCCL_SUCCESS);
  rank.Wait();
  for (uint32_t peer = 0; peer < kRanks; ++peer) {
    CHECK(rank.At(peer * kCount) == static_cast<int32_t>(peer) + 10);
  }
}

// Around the ring, by a batch that is made at once.
void Pass(const Rank& rank) {
  rank.Fill(static_cast<int32_t>(rank.rank));
  const uint32_t after = (rank.rank + 1) % kRanks;
  const uint32_t before = (rank.rank + kRanks - 1) % kRanks;
  CHECK(HcclGroupStart() == HCCL_SUCCESS);
  CHECK(HcclSend(rank.buffer, kCount, HCCL_DATA_TYPE_INT32, after, rank.comm, rank.stream) == HCCL_SUCCESS);
  CHECK(HcclRecv(rank.buffer + kCount, kCount, HCCL_DATA_TYPE_INT32, before, rank.comm, rank.stream) ==
        HCCL_SUCCESS);
  CHECK(HcclGroupEnd() == HCCL_SUCCESS);
  rank.Wait();
  CHECK(rank.At(kCount) == static_cast<int32_t>(before));
}

// Ranks that mean different things are all told so.
void Differ(const Rank& rank) {
  rank.Fill(0);
  const uint64_t count = rank.rank == 2 ? kCount - 1 : kCount;
  CHECK(HcclBroadcast(rank.buffer, count, HCCL_DATA_TYPE_INT32, 0, rank.comm, rank.stream) == HCCL_SUCCESS);
  CHECK(aclrtSynchronizeStream(rank.stream) != ACL_SUCCESS);
  HcclResult error = HCCL_SUCCESS;
  CHECK(HcclGetCommAsyncError(rank.comm, &error) == HCCL_SUCCESS);
  CHECK(error == HCCL_E_PARA);
}

void Resume(const Rank& rank) {
  CHECK(HcclCommSuspend(rank.comm) == HCCL_SUCCESS);
  CHECK(HcclBarrier(rank.comm, rank.stream) == HCCL_E_SUSPENDING);
  CHECK(HcclCommResume(rank.comm) == HCCL_SUCCESS);
  Reduce(rank);
}

}  // namespace

int main() {
  setenv("ASCENDENV_SIM_DEVICES", std::to_string(kRanks).c_str(), 1);
  CHECK_OK(aclInit(nullptr));
  for (const auto& work : {Reduce, Gather, Pass, Differ, Resume}) WithRanks(work);
  CHECK_OK(aclFinalize());
  return checks::Result();
}
