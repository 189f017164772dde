#include "boundary.h"

#include <algorithm>
#include <mutex>
#include <unordered_map>

#include "reports.h"
#include "runtime/activity.h"
#include "runtime/error.h"
#include "runtime/faults.h"
#include "runtime/stream.h"

namespace simulator::hccl {
namespace {

struct Handles {
  std::mutex mutex;
  std::unordered_map<HcclComm, std::shared_ptr<Communicator>> live;
};

// Never destroyed: streams may still run tasks while the process exits.
Handles& AllHandles() {
  static auto* handles = new Handles;
  return *handles;
}

// What the runtime reports for a stream whose collective failed.
aclError RuntimeCode(HcclResult code) {
  switch (code) {
    case HCCL_E_TIMEOUT:
      return ACL_ERROR_RT_FFTS_PLUS_TIMEOUT;
    case HCCL_E_REMOTE:
      return ACL_ERROR_RT_LINK_ERROR;
    case HCCL_E_PARA:
    case HCCL_E_PTR:
      return ACL_ERROR_RT_PARAM_INVALID;
    case HCCL_E_SUSPENDING:
      return ACL_ERROR_RT_DEVICE_TASK_ABORT;
    case HCCL_E_NOT_SUPPORT:
      return ACL_ERROR_FEATURE_UNSUPPORTED;  // as of simulator::Refuse
    default:
      return ACL_ERROR_RT_INTERNAL_ERROR;
  }
}

// Where links that are down on request strike.
void RequireLinks(Membership& group, int32_t device) {
  const bool first = group.LinksAtFirst();
  const auto fault = FaultOf(Fault::kLinkDown, device);
  if (!fault) return;
  const std::string local = "server localhost, device ID " + std::to_string(device);
  if (first) {
    Throw(HCCL_E_TIMEOUT, LinkTimeout("This node (" + local + ") detects that srcRank (" + local +
                                      ") fails to connect to the other ranks. " + fault->message));
  }
  Throw(HCCL_E_REMOTE,
        BrokenLink(local + ", device IP none", "server localhost, device ID unknown, device IP none"));
}

}  // namespace

HcclComm Register(std::shared_ptr<Communicator> communicator) {
  Handles& handles = AllHandles();
  const std::lock_guard<std::mutex> lock(handles.mutex);
  const bool taken = std::any_of(handles.live.begin(), handles.live.end(), [&](const auto& entry) {
    return entry.second->name() == communicator->name() &&
           entry.second->place().device == communicator->place().device;
  });
  Require(!taken, HCCL_E_PARA,
          "The comm name[" + communicator->name() + "] already exists on device " +
              std::to_string(communicator->place().device));
  HcclComm handle = communicator.get();
  handles.live.emplace(handle, std::move(communicator));
  return handle;
}

std::shared_ptr<Communicator> Find(HcclComm handle) {
  Handles& handles = AllHandles();
  const std::lock_guard<std::mutex> lock(handles.mutex);
  Require(handle != nullptr, HCCL_E_PTR, "comm is a null pointer");
  const auto found = handles.live.find(handle);
  Require(found != handles.live.end(), HCCL_E_PARA, "comm is not a live communicator");
  return found->second;
}

void Forget(HcclComm handle) {
  Handles& handles = AllHandles();
  const std::lock_guard<std::mutex> lock(handles.mutex);
  handles.live.erase(handle);
}

// An operation that fails on torch_npu's task queue must not pass without notice, as no operator may.
HcclResult Report(const char* call, HcclResult code, const std::string& message) {
  FailOperator(RuntimeCode(code), std::string(call) + ": " + message);
  return code;
}

void Submit(const char* call, const std::shared_ptr<Communicator>& communicator, aclrtStream stream,
            std::function<void(Membership&)> work) {
  const HostCallScope scope(call);
  auto group = communicator->Current();
  const HcclResult broken = group->status();
  Require(broken == HCCL_SUCCESS, broken,
          "communicator " + group->name() + " is broken since an earlier failure");
  const auto describe = [call, name = group->name()] {
    return Activity{ActivityKind::kCollective, call, 0, {}, name};
  };
  const auto run = [call, device = communicator->place().physical, group = std::move(group),
                    work = std::move(work)] {
    const HcclResult result = Guarded(call, [&] {
      RequireLinks(*group, device);
      work(*group);
    });
    if (result == HCCL_SUCCESS) return ACL_SUCCESS;
    group->Break(result);
    return RuntimeCode(result);
  };
  const aclError queued = Enqueue(stream, Observed(describe, run));
  Require(queued == ACL_SUCCESS, HCCL_E_RUNTIME,
          "the stream did not take the task: " + std::to_string(queued));
}

}  // namespace simulator::hccl
