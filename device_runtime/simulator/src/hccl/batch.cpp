#include "batch.h"

#include <algorithm>
#include <future>
#include <utility>

#include "boundary.h"

namespace simulator::hccl {
namespace {

// What goes to one stream of one communicator, as one task.
struct Kept {
  std::shared_ptr<Communicator> group;
  aclrtStream stream;
  std::vector<Transfer> transfers;
};

struct Batch {
  int depth = 0;
  std::vector<Kept> kept;
  std::vector<std::function<void()>> joins;
};

Batch& BatchOfThread() {
  thread_local Batch batch;
  return batch;
}

void SubmitNow(const char* call, const std::shared_ptr<Communicator>& group, aclrtStream stream,
               std::vector<Transfer> transfers) {
  Submit(call, group, stream,
         [transfers = std::move(transfers)](Membership& members) { Exchange(members, transfers); });
}

// Each join blocks until all ranks have joined, so each needs a thread.
void JoinAtOnce(const std::vector<std::function<void()>>& joins) {
  std::vector<std::future<void>> running;
  running.reserve(joins.size());
  for (const auto& join : joins) running.push_back(std::async(std::launch::async, join));
  for (std::future<void>& one : running) one.wait();
  for (std::future<void>& one : running) one.get();
}

}  // namespace

void OpenBatch() { ++BatchOfThread().depth; }

void CloseBatch() {
  Batch& batch = BatchOfThread();
  Require(batch.depth > 0, HCCL_E_PARA, "there is no HcclGroupStart before this HcclGroupEnd");
  if (--batch.depth > 0) return;
  JoinAtOnce(std::exchange(batch.joins, {}));
  for (Kept& kept : std::exchange(batch.kept, {})) {
    SubmitNow("HcclGroupEnd", kept.group, kept.stream, std::move(kept.transfers));
  }
}

bool KeepJoin(std::function<void()> join) {
  Batch& batch = BatchOfThread();
  if (batch.depth == 0) return false;
  batch.joins.push_back(std::move(join));
  return true;
}

void SubmitOrKeep(const char* call, const std::shared_ptr<Communicator>& group, aclrtStream stream,
                  std::vector<Transfer> transfers) {
  Batch& batch = BatchOfThread();
  if (batch.depth == 0) return SubmitNow(call, group, stream, std::move(transfers));
  const auto same = [&](const Kept& kept) { return kept.group == group && kept.stream == stream; };
  auto found = std::find_if(batch.kept.begin(), batch.kept.end(), same);
  if (found == batch.kept.end()) found = batch.kept.insert(found, Kept{group, stream, {}});
  found->transfers.insert(found->transfers.end(), transfers.begin(), transfers.end());
}

}  // namespace simulator::hccl
