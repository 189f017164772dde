#include "socket.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <thread>

namespace simulator::hccl {
namespace {

constexpr std::chrono::milliseconds kRetryPause{20};

// An abstract address begins with a zero byte; its length is part of the name.
struct Address {
  explicit Address(const std::string& name) {
    content.sun_family = AF_UNIX;
    Require(name.size() < sizeof(content.sun_path), HCCL_E_PARA, "the name of a communicator is too long");
    std::memcpy(content.sun_path + 1, name.data(), name.size());
    length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  }

  const sockaddr* pointer() const { return reinterpret_cast<const sockaddr*>(&content); }

  sockaddr_un content{};
  socklen_t length = 0;
};

Socket NewSocket() {
  Socket created(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
  Require(created.get() >= 0, HCCL_E_SYSCALL, std::string("socket: ") + std::strerror(errno));
  return created;
}

}  // namespace

Socket::~Socket() {
  if (descriptor_ >= 0) close(descriptor_);
}

Socket ListenAt(const std::string& name, int backlog) {
  Socket listener = NewSocket();
  const Address address(name);
  Require(
      bind(listener.get(), address.pointer(), address.length) == 0 && listen(listener.get(), backlog) == 0,
      HCCL_E_UNAVAIL, "cannot listen on socket @" + name + ": " + std::strerror(errno));
  return listener;
}

Socket ConnectTo(const std::string& name, Clock::time_point deadline) {
  Socket connection = NewSocket();
  const Address address(name);
  while (connect(connection.get(), address.pointer(), address.length) != 0) {
    if (Clock::now() >= deadline) return Socket(-1);
    std::this_thread::sleep_for(kRetryPause);
  }
  return connection;
}

bool Readable(const Socket& socket, Clock::time_point deadline) {
  for (;;) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
    if (left <= 0) return false;
    pollfd waiting{socket.get(), POLLIN, 0};
    const int ready = poll(&waiting, 1, static_cast<int>(std::min<int64_t>(left, 1000)));
    if (ready > 0) return true;
    if (ready < 0 && errno != EINTR) return false;
  }
}

void SendAnswer(const Socket& connection, const Answer& answer, int descriptor) {
  iovec content{const_cast<Answer*>(&answer), sizeof(answer)};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = &content;
  message.msg_iovlen = 1;
  if (descriptor >= 0) {
    message.msg_control = control;
    message.msg_controllen = sizeof(control);
    cmsghdr* header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(int));
    std::memcpy(CMSG_DATA(header), &descriptor, sizeof(int));
  }
  // A rank that has died since it joined is not this meeting's concern; the others time out on it.
  (void)sendmsg(connection.get(), &message, MSG_NOSIGNAL);
}

int ReceiveAnswer(const Socket& connection) {
  Answer answer{};
  iovec content{&answer, sizeof(answer)};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = &content;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof(control);
  const ssize_t received = recvmsg(connection.get(), &message, MSG_CMSG_CLOEXEC);
  Require(received == static_cast<ssize_t>(sizeof(answer)), HCCL_E_TCP_TRANSFER,
          "the process that opened the communicator ended before all ranks had joined");
  if (answer.code != HCCL_SUCCESS) Throw(static_cast<HcclResult>(answer.code), answer.reason);
  const cmsghdr* header = CMSG_FIRSTHDR(&message);
  Require(header != nullptr && header->cmsg_type == SCM_RIGHTS, HCCL_E_TCP_TRANSFER,
          "no shared memory came with the answer of the root (open file limit reached?)");
  int descriptor = -1;
  std::memcpy(&descriptor, CMSG_DATA(header), sizeof(int));
  return descriptor;
}

}  // namespace simulator::hccl
