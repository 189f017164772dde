#include "rendezvous.h"

#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <map>
#include <random>
#include <thread>
#include <utility>
#include <vector>

#include "failure.h"
#include "reports.h"
#include "socket.h"

namespace simulator::hccl {
namespace {

void Refuse(const Socket& connection, HcclResult code, const std::string& reason) {
  Answer answer{code, {}};
  reason.copy(answer.reason, sizeof(answer.reason) - 1);
  SendAnswer(connection, answer, -1);
}

// Ranks, one by one as HCCL lists them.
std::string Listed(const std::vector<uint32_t>& ranks) {
  std::string text = "\"[";
  for (const uint32_t rank : ranks) text += std::to_string(rank) + ",";
  return text + "]\"";
}

class Meeting {
 public:
  bool complete() const { return ranks_ > 0 && members_.size() == ranks_; }

  void Admit(Socket connection) {
    Participant candidate{};
    if (recv(connection.get(), &candidate, sizeof(candidate), 0) != sizeof(candidate)) return;
    if (candidate.ranks > kMaxRanks || candidate.rank >= candidate.ranks) return;
    if (ranks_ == 0) ranks_ = candidate.ranks;
    const std::string problem = ProblemOf(candidate);
    if (!problem.empty()) return Refuse(connection, HCCL_E_PARA, RanksNotCollected(problem));
    members_.emplace(candidate.rank, Member{std::move(connection), candidate.device});
  }

  // Two ranks on one device are refused at the end, so that all ranks are told.
  void Conclude() const {
    std::map<int32_t, uint32_t> owners;
    for (const auto& [rank, member] : members_) {
      const auto [owner, fresh] = owners.emplace(member.device, rank);
      Require(
          fresh, HCCL_E_PARA,
          RanksNotCollected("Rank " + std::to_string(owner->second) + " has the same physical device ID " +
                            std::to_string(member.device) + " as the rank " + std::to_string(rank)));
    }
    const auto segment = Segment::Create(ranks_);
    for (const auto& [rank, member] : members_) {
      SendAnswer(member.connection, Answer{HCCL_SUCCESS, {}}, segment->descriptor());
    }
  }

  std::vector<uint32_t> Missing() const {
    std::vector<uint32_t> missing;
    for (uint32_t rank = 0; rank < ranks_; ++rank) {
      if (members_.count(rank) == 0) missing.push_back(rank);
    }
    return missing;
  }

  void RefuseAll(const Failure& failure) const {
    for (const auto& [rank, member] : members_) Refuse(member.connection, failure.code(), failure.what());
  }

 private:
  struct Member {
    Socket connection;
    int32_t device;
  };

  std::string ProblemOf(const Participant& candidate) const {
    if (candidate.ranks != ranks_) {
      return "The number of ranks[" + std::to_string(candidate.ranks) +
             "] passed by the communicator initialization interface of rank " +
             std::to_string(candidate.rank) + " does not match the number of ranks[" +
             std::to_string(ranks_) + "] of the others";
    }
    if (members_.count(candidate.rank) > 0) {
      return "rank " + std::to_string(candidate.rank) + " has joined already";
    }
    return {};
  }

  uint32_t ranks_ = 0;
  std::map<uint32_t, Member> members_;
};

// Closes the listener at its end, so that the name is free before any rank goes on.
bool Gather(Meeting* meeting, Socket listener, Duration patience) {
  while (!meeting->complete()) {
    if (!Readable(listener, Clock::now() + patience)) return false;
    Socket connection(accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
    // A connection that says nothing must not hold up the others for long.
    if (connection.get() >= 0 && Readable(connection, Clock::now() + std::chrono::seconds(1))) {
      meeting->Admit(std::move(connection));
    }
  }
  return true;
}

void Serve(Socket listener, Duration patience) {
  Meeting meeting;
  try {
    const bool complete = Gather(&meeting, std::move(listener), patience);
    Require(complete, HCCL_E_TIMEOUT,
            RanksNotCollected("No rank in the communicator can connect to the root node within the timeout "
                              "period. List of unconnected ranks: " +
                              Listed(meeting.Missing())));
    meeting.Conclude();
  } catch (const Failure& failure) {
    meeting.RefuseAll(failure);
  } catch (const std::exception& unforeseen) {
    meeting.RefuseAll(Failure(HCCL_E_INTERNAL, unforeseen.what()));
  }
}

}  // namespace

std::string NewMeetingName() {
  std::random_device random;
  char text[64];
  std::snprintf(text, sizeof(text), "simulated-hccl-%d-%08x%08x", getpid(), random(), random());
  return text;
}

void OpenMeeting(const std::string& name, Duration patience) {
  std::thread([listener = ListenAt(name, static_cast<int>(kMaxRanks)), patience]() mutable {
    Serve(std::move(listener), patience);
  }).detach();
}

std::shared_ptr<Segment> JoinMeeting(const std::string& name, const Participant& self, Duration patience) {
  const auto deadline = Clock::now() + patience;
  const Socket connection = ConnectTo(name, deadline);
  Require(connection.get() >= 0, HCCL_E_TIMEOUT,
          RanksNotCollected("1. Rank " + std::to_string(self.rank) +
                            " is disconnected from the host of the root node, @" + name +
                            ". 2. the timeout set by the HCCL_CONNECT_TIMEOUT environment variable is too "
                            "short"));
  Require(send(connection.get(), &self, sizeof(self), MSG_NOSIGNAL) == sizeof(self), HCCL_E_TCP_TRANSFER,
          std::string("joining the communicator: ") + std::strerror(errno));
  // A moment more than the root waits, because the root knows who is missing.
  Require(Readable(connection, deadline + std::chrono::seconds(1)), HCCL_E_TIMEOUT,
          RanksNotCollected("not all of the " + std::to_string(self.ranks) + " ranks have joined"));
  return Segment::Map(ReceiveAnswer(connection), self.ranks);
}

}  // namespace simulator::hccl
