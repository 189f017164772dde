#include <pthread.h>

#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

#include "acl/acl_rt.h"
#include "runtime/boundary.h"
#include "runtime/error.h"
#include "runtime/queue.h"

namespace simulator {
namespace {

// Callbacks wait here for the thread that processes the reports of a stream.
class Mailbox {
 public:
  void Put(std::function<void()> callback) {
    const std::lock_guard<std::mutex> lock(mutex_);
    callbacks_.push_back(std::move(callback));
    arrived_.notify_one();
  }

  std::function<void()> Take(Milliseconds timeout) {
    std::unique_lock<std::mutex> lock(mutex_);
    const auto arrived = [this] { return !callbacks_.empty(); };
    if (timeout < 0) {
      arrived_.wait(lock, arrived);
    } else if (!arrived_.wait_for(lock, std::chrono::milliseconds(timeout), arrived)) {
      return nullptr;
    }
    std::function<void()> callback = std::move(callbacks_.front());
    callbacks_.pop_front();
    return callback;
  }

 private:
  std::mutex mutex_;
  std::condition_variable arrived_;
  std::deque<std::function<void()>> callbacks_;
};

struct Subscriptions {
  std::mutex mutex;
  std::map<int32_t, uint64_t> threads;  // by the id of the stream: an address may be used again
  std::map<uint64_t, std::shared_ptr<Mailbox>> mailboxes;
};

Subscriptions& All() {
  static auto* subscriptions = new Subscriptions;
  return *subscriptions;
}

uint64_t ThisThread() { return static_cast<uint64_t>(pthread_self()); }

std::shared_ptr<Mailbox> MailboxOf(uint64_t thread) {
  const std::lock_guard<std::mutex> lock(All().mutex);
  const auto found = All().mailboxes.find(thread);
  return found == All().mailboxes.end() ? nullptr : found->second;
}

std::shared_ptr<Mailbox> MailboxOf(const Stream& stream) {
  uint64_t thread = 0;
  {
    const std::lock_guard<std::mutex> lock(All().mutex);
    const auto found = All().threads.find(stream.Id());
    if (found == All().threads.end()) return nullptr;
    thread = found->second;
  }
  return MailboxOf(thread);
}

}  // namespace
}  // namespace simulator

using namespace simulator;

aclError aclrtSubscribeReport(uint64_t threadId, aclrtStream handle) {
  return Guarded("aclrtSubscribeReport", [&]() -> aclError {
    std::shared_ptr<Stream> stream;
    if (const aclError error = FindStream(handle, &stream)) return error;
    const std::lock_guard<std::mutex> lock(All().mutex);
    if (!All().threads.emplace(stream->Id(), threadId).second) {
      return Fail(ACL_ERROR_REPEAT_SUBSCRIBE, "aclrtSubscribeReport: the stream already has a thread");
    }
    auto& mailbox = All().mailboxes[threadId];
    if (mailbox == nullptr) mailbox = std::make_shared<Mailbox>();
    return ACL_SUCCESS;
  });
}

aclError aclrtUnSubscribeReport(uint64_t threadId, aclrtStream handle) {
  return Guarded("aclrtUnSubscribeReport", [&]() -> aclError {
    std::shared_ptr<Stream> stream;
    if (const aclError error = FindStream(handle, &stream)) return error;
    const std::lock_guard<std::mutex> lock(All().mutex);
    const auto found = All().threads.find(stream->Id());
    if (found == All().threads.end() || found->second != threadId) {
      return Fail(ACL_ERROR_STREAM_NOT_SUBSCRIBE, "aclrtUnSubscribeReport: this thread is not subscribed");
    }
    All().threads.erase(found);
    return ACL_SUCCESS;
  });
}

aclError aclrtProcessReport(int32_t milliseconds) {
  return Guarded("aclrtProcessReport", [&]() -> aclError {
    const std::shared_ptr<Mailbox> mailbox = MailboxOf(ThisThread());
    if (mailbox == nullptr) {
      return Fail(ACL_ERROR_THREAD_NOT_SUBSCRIBE,
                  "aclrtProcessReport: this thread is subscribed to no stream");
    }
    const std::function<void()> callback = mailbox->Take(milliseconds);
    if (callback == nullptr) {
      return Fail(ACL_ERROR_WAIT_CALLBACK_TIMEOUT, "aclrtProcessReport: no callback arrived in time");
    }
    callback();
    return ACL_SUCCESS;
  });
}

aclError aclrtLaunchCallback(aclrtCallback function, void* userData, aclrtCallbackBlockType block,
                             aclrtStream handle) {
  return Guarded("aclrtLaunchCallback", [&]() -> aclError {
    if (function == nullptr) return Fail(ACL_ERROR_INVALID_PARAM, "aclrtLaunchCallback: function is null");
    std::shared_ptr<Stream> stream;
    if (const aclError error = FindStream(handle, &stream)) return error;
    std::shared_ptr<Mailbox> mailbox = MailboxOf(*stream);
    if (mailbox == nullptr) {
      return Fail(ACL_ERROR_STREAM_NOT_SUBSCRIBE,
                  "aclrtLaunchCallback: no thread is subscribed to the stream");
    }
    return stream->Append([=, mailbox = std::move(mailbox)] {
      auto ran = std::make_shared<std::promise<void>>();
      std::future<void> done = ran->get_future();
      mailbox->Put([=] {
        function(userData);
        ran->set_value();
      });
      if (block == ACL_CALLBACK_BLOCK) done.wait();
      return ACL_SUCCESS;
    });
  });
}

aclError aclrtLaunchHostFunc(aclrtStream stream, aclrtHostFunc function, void* arguments) {
  return Guarded("aclrtLaunchHostFunc", [&]() -> aclError {
    if (function == nullptr) return Fail(ACL_ERROR_INVALID_PARAM, "aclrtLaunchHostFunc: function is null");
    std::shared_ptr<Stream> found;
    if (const aclError error = FindStream(stream, &found)) return error;
    return found->Append([=] {
      function(arguments);
      return ACL_SUCCESS;
    });
  });
}
