#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "acl/acl_base.h"
#include "communicator.h"
#include "point_to_point.h"

namespace simulator::hccl {

// Between HcclGroupStart and HcclGroupEnd the sends and receives of a thread are kept back, and then made at
// once, so that two ranks may first send to and then receive from each other. So is joining communicators, so
// that one thread may join for several devices. Pairs of calls may be nested. Other operations are not kept
// back: they do not block the thread that gives them.

void OpenBatch();

// Submits what was kept back when the outermost pair closes. Throws HCCL_E_PARA when none is open.
void CloseBatch();

// Makes the transfers, now or when the batch of this thread closes.
void SubmitOrKeep(const char* call, const std::shared_ptr<Communicator>& group, aclrtStream stream,
                  std::vector<Transfer> transfers);

// Keeps a joining back until the batch of this thread closes; false when none is open.
bool KeepJoin(std::function<void()> join);

}  // namespace simulator::hccl
