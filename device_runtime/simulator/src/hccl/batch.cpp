#include "batch.h"

#include <algorithm>
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

}  // namespace

void OpenBatch() { ++BatchOfThread().depth; }

void CloseBatch() {
  Batch& batch = BatchOfThread();
  Require(batch.depth > 0, HCCL_E_PARA, "there is no HcclGroupStart before this HcclGroupEnd");
  if (--batch.depth > 0) return;
  for (Kept& kept : std::exchange(batch.kept, {})) {
    SubmitNow("HcclGroupEnd", kept.group, kept.stream, std::move(kept.transfers));
  }
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
