#include "joining.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "acl/acl.h"
#include "failure.h"
#include "rank_table.h"
#include "rendezvous.h"
#include "reports.h"
#include "runtime/device.h"

namespace simulator::hccl {
namespace {

void RequireGroup(uint32_t ranks, uint32_t rank) {
  Require(ranks > 0 && rank < ranks, HCCL_E_PARA,
          "rank " + std::to_string(rank) + " of " + std::to_string(ranks) + " ranks");
  Require(ranks <= kMaxRanks, HCCL_E_NOT_SUPPORT,
          "the simulated CANN takes at most " + std::to_string(kMaxRanks) + " ranks");
}

// A name of a meeting that all who know the description find.
std::string MeetingFor(const std::string& description) {
  return "simulated-hccl-" + std::to_string(std::hash<std::string>{}(description));
}

std::shared_ptr<Segment> Meet(const std::string& meeting, const Participant& self) {
  return JoinMeeting(meeting, self, ConnectTimeout());
}

// For ranks that have no root: the first of them opens the meeting.
std::shared_ptr<Segment> MeetWithoutRoot(const std::string& meeting, const Participant& self) {
  if (self.rank == 0) OpenMeeting(meeting, ConnectTimeout());
  return Meet(meeting, self);
}

std::shared_ptr<Communicator> MakeCommunicator(std::shared_ptr<Segment> segment, Identity identity,
                                               uint32_t rank, Place place, const CommChoices& choices) {
  const Participant self{segment->ranks(), rank, place.physical};
  auto rejoin = [key = identity.key, self](uint32_t generation) {
    return MeetWithoutRoot(MeetingFor(key + "/resumed " + std::to_string(generation)), self);
  };
  const Duration timeout = choices.execution_timeout ? *choices.execution_timeout : ExecutionTimeout();
  return std::make_shared<Communicator>(std::move(segment), rank, std::move(identity), place, timeout,
                                        std::move(rejoin));
}

std::string NameOr(const CommChoices& choices, const std::string& fallback) {
  return choices.name.empty() ? fallback : choices.name;
}

// Sets a device for a while.
class DeviceScope {
 public:
  explicit DeviceScope(int32_t device) {
    if (aclrtGetDevice(&before_) != ACL_SUCCESS) before_ = -1;
    Require(aclrtSetDevice(device) == ACL_SUCCESS, HCCL_E_PARA,
            "device " + std::to_string(device) + " cannot be set");
  }
  ~DeviceScope() {
    if (before_ >= 0) (void)aclrtSetDevice(before_);
  }
  DeviceScope(const DeviceScope&) = delete;
  DeviceScope& operator=(const DeviceScope&) = delete;

 private:
  int32_t before_ = -1;
};

}  // namespace

Place CurrentPlace() {
  Place place;
  place.physical = CurrentPhysicalDevice().value_or(-1);
  Require(aclrtGetDevice(&place.device) == ACL_SUCCESS && place.physical >= 0, HCCL_E_RUNTIME,
          "no device is set on this thread, call aclrtSetDevice first");
  return place;
}

std::shared_ptr<Communicator> Join(const JoinRequest& request) {
  RequireGroup(request.ranks, request.rank);
  auto segment = Meet(request.meeting, {request.ranks, request.rank, request.place.physical});
  return MakeCommunicator(std::move(segment), {request.meeting, NameOr(request.choices, request.meeting)},
                          request.rank, request.place, request.choices);
}

std::shared_ptr<Communicator> JoinByRankTable(const char* file, uint32_t rank, const CommChoices& choices) {
  const RankTable table = ReadRankTable(file);
  const auto ranks = static_cast<uint32_t>(table.devices.size());
  Require(rank < ranks, HCCL_E_PARA,
          InvalidInRankTable(std::to_string(rank), "rank_id", "less than " + std::to_string(ranks)));
  RequireGroup(ranks, rank);
  const Place place = CurrentPlace();
  Require(place.physical == table.devices[rank], HCCL_E_PARA,
          InvalidInRankTable(std::to_string(table.devices[rank]), "device_id",
                             std::to_string(place.physical) + ", the device that is set"));
  const std::string key = MeetingFor("rank table " + table.content);
  auto segment = MeetWithoutRoot(key, {ranks, rank, place.physical});
  return MakeCommunicator(std::move(segment), {key, NameOr(choices, "hccl_world_group")}, rank, place,
                          choices);
}

std::vector<std::shared_ptr<Communicator>> JoinAll(const std::vector<int32_t>& devices) {
  const auto ranks = static_cast<uint32_t>(devices.size());
  RequireGroup(ranks, 0);
  const std::string key = NewMeetingName();
  const auto segment = Segment::Create(ranks);
  std::vector<std::shared_ptr<Communicator>> communicators;
  for (uint32_t rank = 0; rank < ranks; ++rank) {
    const DeviceScope scope(devices[rank]);
    communicators.push_back(MakeCommunicator(segment, {key, key}, rank, CurrentPlace(), {}));
  }
  return communicators;
}

std::shared_ptr<Communicator> JoinPart(const Communicator& parent, const std::vector<uint32_t>& members,
                                       uint64_t id, uint32_t rank, const CommChoices& choices) {
  const auto ranks = static_cast<uint32_t>(members.size());
  RequireGroup(ranks, rank);
  Require(members[rank] == parent.rank(), HCCL_E_PARA,
          "rankIds[" + std::to_string(rank) + "] is not rank " + std::to_string(parent.rank()));
  Require(*std::max_element(members.begin(), members.end()) < parent.ranks(), HCCL_E_PARA,
          "rankIds names a rank that the parent communicator does not have");
  const std::string name = NameOr(choices, parent.name() + "_sub_" + std::to_string(id));
  std::string description = parent.key() + "/" + name;
  for (const uint32_t member : members) description += "/" + std::to_string(member);
  const std::string key = MeetingFor(description);
  auto segment = MeetWithoutRoot(key, {ranks, rank, parent.place().physical});
  return MakeCommunicator(std::move(segment), {key, name}, rank, parent.place(), choices);
}

}  // namespace simulator::hccl
