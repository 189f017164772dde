#include "boundary.h"

#include <unordered_map>

#include "runtime/activity.h"
#include "runtime/error.h"
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
      return ACL_ERROR_RT_SUSPECT_REMOTE_ERROR;
    case HCCL_E_PARA:
    case HCCL_E_PTR:
      return ACL_ERROR_RT_PARAM_INVALID;
    case HCCL_E_NOT_SUPPORT:
      return ACL_ERROR_FEATURE_UNSUPPORTED;  // as of simulator::Refuse
    default:
      return ACL_ERROR_RT_INTERNAL_ERROR;
  }
}

}  // namespace

HcclComm Register(std::shared_ptr<Communicator> communicator) {
  Handles& handles = AllHandles();
  const std::lock_guard<std::mutex> lock(handles.mutex);
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

HcclResult Report(const char* call, HcclResult code, const std::string& message) {
  Fail(RuntimeCode(code), std::string(call) + ": " + message);
  return code;
}

void Submit(const char* call, std::shared_ptr<Communicator> group, aclrtStream stream,
            std::function<void()> work) {
  const HcclResult broken = group->status();
  Require(broken == HCCL_SUCCESS, broken,
          "communicator " + group->name() + " is broken since an earlier failure");
  const auto describe = [call] { return Activity{ActivityKind::kCollective, call}; };
  const aclError queued =
      Enqueue(stream, Observed(describe, [call, group = std::move(group), work = std::move(work)] {
                const HcclResult result = Guarded(call, work);
                if (result == HCCL_SUCCESS) return ACL_SUCCESS;
                group->Break(result);
                return RuntimeCode(result);
              }));
  Require(queued == ACL_SUCCESS, HCCL_E_RUNTIME,
          "the stream did not take the task: " + std::to_string(queued));
}

}  // namespace simulator::hccl
