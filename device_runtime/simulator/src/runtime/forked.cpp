#include "runtime/forked.h"

#include <pthread.h>

#include <atomic>

#include "runtime/error.h"

namespace simulator {
namespace {

std::atomic<bool> used{false};
std::atomic<bool> forkedFromUser{false};

const int forkWatched = pthread_atfork(nullptr, nullptr, [] {
  if (used.exchange(false)) forkedFromUser = true;
});

}  // namespace

void NoteDeviceUse() { used = true; }

bool IsForkedFromUser() { return forkedFromUser; }

aclError RefuseIfForked() {
  if (!IsForkedFromUser()) return ACL_SUCCESS;
  return Fail(ACL_ERROR_RT_CONTEXT_NULL,
              "this process was forked from one that had used a device: start it with spawn");
}

}  // namespace simulator
