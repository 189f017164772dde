#pragma once

#include <exception>
#include <new>
#include <utility>

#include "acl/acl_base.h"

namespace simulator {

// Keeps the message of an exception that `call` ended with, if there is memory for it, and returns the code.
ACL_FUNC_VISIBILITY aclError Caught(const char* call, aclError code, const char* what) noexcept;

// What every exported function runs its body in: no exception crosses into C.
template <class Body>
aclError Guarded(const char* call, Body&& body) noexcept {
  try {
    return std::forward<Body>(body)();
  } catch (const std::bad_alloc&) {
    return Caught(call, ACL_ERROR_BAD_ALLOC, "the host has no memory left");
  } catch (const std::exception& unforeseen) {
    return Caught(call, ACL_ERROR_RT_INTERNAL_ERROR, unforeseen.what());
  }
}

}  // namespace simulator
