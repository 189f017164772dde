#include "launch.h"

#include <ATen/ATen.h>
#include <c10/core/impl/LocalDispatchKeySet.h>

#include <memory>
#include <optional>
#include <utility>

#include "arguments.h"
#include "runtime/activity.h"
#include "runtime/error.h"
#include "runtime/failure.h"
#include "runtime/stream.h"

namespace simulator::operators {
namespace {

constexpr aclnnStatus kMissingArgument = 161001;  // ACLNN_ERR_PARAM_NULLPTR
constexpr aclnnStatus kInvalidArgument = 161002;  // ACLNN_ERR_PARAM_INVALID
constexpr aclError kDeviceFault = 507015;         // ACL_ERROR_RT_AICORE_EXCEPTION

// Plain kernels only: the caller's autograd, autocast, functional transforms and Python modes are not the
// device's business.
class PlainKernels {
 public:
  PlainKernels() : guard_(c10::DispatchKeySet(c10::DispatchKey::BackendSelect), Excluded()) {}

 private:
  static c10::DispatchKeySet Excluded() {
    return c10::autograd_dispatch_keyset_with_ADInplaceOrView | c10::autocast_dispatch_keyset;
  }

  c10::impl::ForceDispatchKeyGuard guard_;
};

// The first line of ATen's messages says it all; some go on for pages.
std::string Message(const char* name, const std::string& problem) {
  return std::string(name) + ": " + problem.substr(0, problem.find('\n'));
}

// Runs `body`; turns what it throws into a failure with `code`.
std::optional<Failure> FailureIn(const char* name, aclError code, const std::function<void()>& body) {
  try {
    const PlainKernels guard;
    body();
    return std::nullopt;
  } catch (const MissingArgument& error) {
    return Failure{kMissingArgument, Message(name, error.what())};
  } catch (const c10::Error& error) {
    return Failure{code, Message(name, error.what_without_backtrace())};
  } catch (const std::exception& error) {
    return Failure{code, Message(name, error.what())};
  }
}

// What phase 1 refused on the thread of torch_npu's task queue, for phase 2 that follows there: it knows the
// stream, which is to fail.
thread_local std::optional<Failure> refusal;

}  // namespace

aclnnStatus Prepare(const char* name, const std::function<void()>& hold) {
  refusal = FailureIn(name, kInvalidArgument, hold);
  if (!refusal || OnTaskQueue()) return ACL_SUCCESS;
  const auto refused = *std::exchange(refusal, std::nullopt);
  return Fail(refused.code, refused.message);
}

aclError Run(const char* name, const std::function<void()>& body) {
  const auto failure = FailureIn(name, kDeviceFault, body);
  return failure ? Fail(failure->code, failure->message) : ACL_SUCCESS;
}

aclnnStatus Launch(void* /*workspace*/, uint64_t /*workspaceSize*/, aclOpExecutor* executor,
                   aclrtStream stream) {
  const std::unique_ptr<aclOpExecutor> owned(executor);
  if (const auto refused = std::exchange(refusal, std::nullopt)) {
    return FailOnStream(stream, refused->code, refused->message);
  }
  if (owned == nullptr) return Fail(kInvalidArgument, "phase 2 was called without an executor");
  const HostCallScope scope(owned->name.c_str());
  const auto describe = [&owned] {
    return Activity{ActivityKind::kOperator, owned->name, 0, std::move(owned->operands), {}};
  };
  return EnqueueKernel(stream, Observed(describe, std::move(owned->launch)), owned->name);
}

aclnnStatus LaunchAndWait(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                          aclrtStream stream) {
  const auto status = Launch(workspace, workspaceSize, executor, stream);
  return status == ACL_SUCCESS ? Synchronize(stream) : status;
}

}  // namespace simulator::operators
