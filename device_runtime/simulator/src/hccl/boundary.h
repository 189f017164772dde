#pragma once

#include <functional>
#include <memory>
#include <new>
#include <string>
#include <utility>

#include "acl/acl_base.h"
#include "communicator.h"
#include "failure.h"

namespace simulator::hccl {

// What the exported functions share: handles, and no exception crossing into C.

// Throws HCCL_E_PARA when the device has a communicator of this name already.
HcclComm Register(std::shared_ptr<Communicator> communicator);
std::shared_ptr<Communicator> Find(HcclComm handle);
void Forget(HcclComm handle);

// Makes the message available to aclGetRecentErrMsg and returns the code.
HcclResult Report(const char* call, HcclResult code, const std::string& message);

template <typename Body>
HcclResult Guarded(const char* call, Body&& body) noexcept {
  try {
    std::forward<Body>(body)();
    return HCCL_SUCCESS;
  } catch (const Failure& failure) {
    return Report(call, failure.code(), failure.what());
  } catch (const std::bad_alloc&) {
    return Report(call, HCCL_E_MEMORY, "out of host memory");
  } catch (const std::exception& unforeseen) {
    return Report(call, HCCL_E_INTERNAL, unforeseen.what());
  }
}

// Appends the work to the stream. If it fails there, the group is broken and the stream has failed.
void Submit(const char* call, const std::shared_ptr<Communicator>& communicator, aclrtStream stream,
            std::function<void(Membership&)> work);

}  // namespace simulator::hccl
