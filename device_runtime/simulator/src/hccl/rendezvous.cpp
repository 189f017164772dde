#include "rendezvous.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <map>
#include <random>
#include <thread>
#include <utility>

#include "failure.h"

namespace simulator::hccl {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kRetryPause{20};

class Socket {
 public:
  explicit Socket(int descriptor) : descriptor_(descriptor) {}
  ~Socket() {
    if (descriptor_ >= 0) close(descriptor_);
  }
  Socket(Socket&& other) noexcept : descriptor_(other.descriptor_) { other.descriptor_ = -1; }
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;
  int get() const { return descriptor_; }

 private:
  int descriptor_;
};

struct Application {
  uint32_t ranks;
  uint32_t rank;
};

struct Answer {
  int32_t code;
  char reason[240];
};

Socket NewSocket() {
  Socket created(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
  Require(created.get() >= 0, HCCL_E_SYSCALL, std::string("socket: ") + std::strerror(errno));
  return created;
}

// An abstract address begins with a zero byte; its length is part of the name.
socklen_t AbstractAddress(const std::string& name, sockaddr_un* address) {
  *address = {};
  address->sun_family = AF_UNIX;
  Require(name.size() < sizeof(address->sun_path), HCCL_E_PARA, "the name of a communicator is too long");
  std::memcpy(address->sun_path + 1, name.data(), name.size());
  return static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
}

bool Readable(int descriptor, Clock::time_point deadline) {
  for (;;) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
    if (left <= 0) return false;
    pollfd waiting{descriptor, POLLIN, 0};
    const int ready = poll(&waiting, 1, static_cast<int>(std::min<int64_t>(left, 1000)));
    if (ready > 0) return true;
    if (ready < 0 && errno != EINTR) return false;
  }
}

void SendAnswer(int connection, const Answer& answer, int descriptor) {
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
  (void)sendmsg(connection, &message, MSG_NOSIGNAL);
}

void Refuse(int connection, HcclResult code, const std::string& reason) {
  Answer answer{code, {}};
  reason.copy(answer.reason, sizeof(answer.reason) - 1);
  SendAnswer(connection, answer, -1);
}

// Returns the descriptor of the segment.
int ReceiveAnswer(int connection) {
  Answer answer{};
  iovec content{&answer, sizeof(answer)};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = &content;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof(control);
  const ssize_t received = recvmsg(connection, &message, MSG_CMSG_CLOEXEC);
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

std::string TimeoutText(const std::string& what, Seconds patience) {
  return "EI0006: getting socket times out: " + what + " within " + std::to_string(patience.count()) +
         " s (HCCL_CONNECT_TIMEOUT)";
}

class Meeting {
 public:
  bool complete() const { return ranks_ > 0 && members_.size() == ranks_; }

  void Admit(Socket connection) {
    Application application{};
    if (recv(connection.get(), &application, sizeof(application), 0) != sizeof(application)) return;
    if (application.ranks > kMaxRanks || application.rank >= application.ranks) return;
    if (ranks_ == 0) ranks_ = application.ranks;
    if (application.ranks != ranks_) {
      return Refuse(connection.get(), HCCL_E_PARA,
                    "rank " + std::to_string(application.rank) + " counts " +
                        std::to_string(application.ranks) + " ranks, others " + std::to_string(ranks_));
    }
    if (members_.count(application.rank) > 0) {
      return Refuse(connection.get(), HCCL_E_PARA,
                    "rank " + std::to_string(application.rank) + " has joined already");
    }
    members_.emplace(application.rank, std::move(connection));
  }

  void HandOut() const {
    const auto segment = Segment::Create(ranks_);
    for (const auto& member : members_) {
      SendAnswer(member.second.get(), Answer{HCCL_SUCCESS, {}}, segment->descriptor());
    }
  }

  std::string Missing() const {
    std::string missing;
    for (uint32_t rank = 0; rank < ranks_; ++rank) {
      if (members_.count(rank) == 0) missing += (missing.empty() ? "rank " : ", ") + std::to_string(rank);
    }
    return missing;
  }

  void RefuseAll(const Failure& failure) const {
    for (const auto& member : members_) Refuse(member.second.get(), failure.code(), failure.what());
  }

 private:
  uint32_t ranks_ = 0;
  std::map<uint32_t, Socket> members_;
};

// Closes the listener at its end, so that the name is free before any rank goes on.
bool Gather(Meeting* meeting, Socket listener, Seconds patience) {
  while (!meeting->complete()) {
    if (!Readable(listener.get(), Clock::now() + patience)) return false;
    Socket connection(accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
    // A connection that says nothing must not hold up the others for long.
    if (connection.get() >= 0 && Readable(connection.get(), Clock::now() + Seconds(1))) {
      meeting->Admit(std::move(connection));
    }
  }
  return true;
}

void Serve(Socket listener, Seconds patience) {
  Meeting meeting;
  try {
    const bool complete = Gather(&meeting, std::move(listener), patience);
    Require(complete, HCCL_E_TIMEOUT, TimeoutText(meeting.Missing() + " did not join", patience));
    meeting.HandOut();
  } catch (const Failure& failure) {
    meeting.RefuseAll(failure);
  } catch (const std::exception& unforeseen) {
    meeting.RefuseAll(Failure(HCCL_E_INTERNAL, unforeseen.what()));
  }
}

bool Connect(const Socket& connection, const std::string& name, Clock::time_point deadline) {
  sockaddr_un address;
  const socklen_t length = AbstractAddress(name, &address);
  while (connect(connection.get(), reinterpret_cast<const sockaddr*>(&address), length) != 0) {
    if (Clock::now() >= deadline) return false;
    std::this_thread::sleep_for(kRetryPause);
  }
  return true;
}

}  // namespace

std::string NewMeetingName() {
  std::random_device random;
  char text[64];
  std::snprintf(text, sizeof(text), "simulated-hccl-%d-%08x%08x", getpid(), random(), random());
  return text;
}

void OpenMeeting(const std::string& name, Seconds patience) {
  Socket listener = NewSocket();
  sockaddr_un address;
  const socklen_t length = AbstractAddress(name, &address);
  Require(bind(listener.get(), reinterpret_cast<const sockaddr*>(&address), length) == 0 &&
              listen(listener.get(), static_cast<int>(kMaxRanks)) == 0,
          HCCL_E_SYSCALL, "cannot listen on socket @" + name + ": " + std::strerror(errno));
  std::thread([listener = std::move(listener), patience]() mutable {
    Serve(std::move(listener), patience);
  }).detach();
}

std::shared_ptr<Segment> JoinMeeting(const std::string& name, uint32_t ranks, uint32_t rank,
                                     Seconds patience) {
  const auto deadline = Clock::now() + patience;
  const Socket connection = NewSocket();
  Require(Connect(connection, name, deadline), HCCL_E_TIMEOUT,
          TimeoutText("rank " + std::to_string(rank) + " found no root at @" + name, patience));
  const Application application{ranks, rank};
  Require(send(connection.get(), &application, sizeof(application), MSG_NOSIGNAL) == sizeof(application),
          HCCL_E_TCP_TRANSFER, std::string("joining the communicator: ") + std::strerror(errno));
  // A moment more than the root waits, because the root knows who is missing.
  Require(Readable(connection.get(), deadline + Seconds(1)), HCCL_E_TIMEOUT,
          TimeoutText("not all of the " + std::to_string(ranks) + " ranks joined", patience));
  return Segment::Map(ReceiveAnswer(connection.get()), ranks);
}

}  // namespace simulator::hccl
