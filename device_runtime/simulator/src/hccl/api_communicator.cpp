#include <algorithm>
#include <cstring>
#include <functional>
#include <set>
#include <string>

#include "acl/acl.h"
#include "boundary.h"
#include "rendezvous.h"

namespace {

using namespace simulator::hccl;

constexpr char kRootInfoMark[] = "simulated CANN root info 1";

struct RootInfo {
  char mark[sizeof(kRootInfoMark)];
  char meeting[108];
};
static_assert(sizeof(RootInfo) <= sizeof(HcclRootInfo));

std::string MeetingOf(const HcclRootInfo* info) {
  Require(info != nullptr, HCCL_E_PTR, "rootInfo is a null pointer");
  RootInfo content;
  std::memcpy(&content, info->internal, sizeof(content));
  Require(std::memcmp(content.mark, kRootInfoMark, sizeof(kRootInfoMark)) == 0, HCCL_E_PARA,
          "rootInfo does not come from HcclGetRootInfo of the simulated CANN");
  return {content.meeting, strnlen(content.meeting, sizeof(content.meeting))};
}

void RequireDevice() {
  int32_t device = 0;
  Require(aclrtGetDevice(&device) == ACL_SUCCESS, HCCL_E_RUNTIME,
          "no device is set on this thread, call aclrtSetDevice first");
}

void RequireGroup(uint32_t ranks, uint32_t rank) {
  Require(ranks > 0 && rank < ranks, HCCL_E_PARA,
          "rank " + std::to_string(rank) + " of " + std::to_string(ranks) + " ranks");
  Require(ranks <= kMaxRanks, HCCL_E_NOT_SUPPORT,
          "the simulated CANN takes at most " + std::to_string(kMaxRanks) + " ranks");
}

struct Choices {
  std::string name;
  Seconds execution_timeout;
};

// Older callers know a shorter structure; its first field says how long theirs is.
template <typename Field>
bool Knows(const HcclCommConfig* config, const Field& field) {
  size_t size = 0;
  std::memcpy(&size, config->reserved, sizeof(size));
  const auto* end = reinterpret_cast<const char*>(&field) + sizeof(field);
  return end <= reinterpret_cast<const char*>(config) + size;
}

Choices ChoicesOf(const HcclCommConfig* config, const std::string& key) {
  Choices choices{key, ExecutionTimeout()};
  if (config == nullptr) return choices;
  if (Knows(config, config->hcclCommName) && config->hcclCommName[0] != '\0') {
    choices.name.assign(config->hcclCommName, strnlen(config->hcclCommName, COMM_NAME_MAX_LENGTH - 1));
  }
  if (Knows(config, config->hcclExecTimeOut) &&
      config->hcclExecTimeOut != HCCL_COMM_EXECTIMEOUT_CONFIG_NOT_SET) {
    Require(config->hcclExecTimeOut >= 0, HCCL_E_PARA, "hcclExecTimeOut is negative");
    choices.execution_timeout = Seconds(config->hcclExecTimeOut);
  }
  return choices;
}

HcclComm Join(const std::string& meeting, uint32_t ranks, uint32_t rank, const HcclCommConfig* config) {
  const Choices choices = ChoicesOf(config, meeting);
  auto segment = JoinMeeting(meeting, ranks, rank, ConnectTimeout());
  return Register(std::make_shared<Communicator>(std::move(segment), rank, Identity{meeting, choices.name},
                                                 choices.execution_timeout));
}

void RequireDistinctDevices(uint32_t count, const int32_t* devices) {
  uint32_t available = 0;
  Require(aclrtGetDeviceCount(&available) == ACL_SUCCESS, HCCL_E_RUNTIME, "the devices cannot be counted");
  std::set<int32_t> seen;
  for (uint32_t i = 0; i < count; ++i) {
    Require(devices[i] >= 0 && static_cast<uint32_t>(devices[i]) < available, HCCL_E_PARA,
            "device " + std::to_string(devices[i]) + " is not one of the " + std::to_string(available) +
                " devices");
    Require(seen.insert(devices[i]).second, HCCL_E_PARA,
            "device " + std::to_string(devices[i]) + " is named twice");
  }
}

// The same on every member of the new group, and different for every group of the same parent.
std::string SubGroupKey(const std::string& parent, uint64_t id, const uint32_t* members, uint32_t count) {
  std::string description = parent + "/" + std::to_string(id);
  for (uint32_t i = 0; i < count; ++i) description += "/" + std::to_string(members[i]);
  return "simulated-hccl-sub-" + std::to_string(std::hash<std::string>{}(description));
}

}  // namespace

HcclResult HcclGetRootInfo(HcclRootInfo* rootInfo) {
  return Guarded(__func__, [&] {
    Require(rootInfo != nullptr, HCCL_E_PTR, "rootInfo is a null pointer");
    RequireDevice();
    const std::string meeting = NewMeetingName();
    OpenMeeting(meeting, ConnectTimeout());
    RootInfo content{};
    std::memcpy(content.mark, kRootInfoMark, sizeof(kRootInfoMark));
    meeting.copy(content.meeting, sizeof(content.meeting) - 1);
    std::memset(rootInfo->internal, 0, sizeof(rootInfo->internal));
    std::memcpy(rootInfo->internal, &content, sizeof(content));
  });
}

HcclResult HcclCommInitRootInfo(uint32_t nRanks, const HcclRootInfo* rootInfo, uint32_t rank,
                                HcclComm* comm) {
  return HcclCommInitRootInfoConfig(nRanks, rootInfo, rank, nullptr, comm);
}

HcclResult HcclCommInitRootInfoConfig(uint32_t nRanks, const HcclRootInfo* rootInfo, uint32_t rank,
                                      const HcclCommConfig* config, HcclComm* comm) {
  return Guarded(__func__, [&] {
    Require(comm != nullptr, HCCL_E_PTR, "comm is a null pointer");
    RequireGroup(nRanks, rank);
    RequireDevice();
    *comm = Join(MeetingOf(rootInfo), nRanks, rank, config);
  });
}

HcclResult HcclCommInitAll(uint32_t ndev, int32_t* devices, HcclComm* comms) {
  return Guarded(__func__, [&] {
    Require(devices != nullptr && comms != nullptr, HCCL_E_PTR, "devices or comms is a null pointer");
    RequireGroup(ndev, 0);
    RequireDistinctDevices(ndev, devices);
    const std::string key = NewMeetingName();
    const auto segment = Segment::Create(ndev);
    for (uint32_t rank = 0; rank < ndev; ++rank) {
      comms[rank] =
          Register(std::make_shared<Communicator>(segment, rank, Identity{key, key}, ExecutionTimeout()));
    }
  });
}

HcclResult HcclCreateSubCommConfig(HcclComm* comm, uint32_t rankNum, uint32_t* rankIds, uint64_t subCommId,
                                   uint32_t subCommRankId, HcclCommConfig* config, HcclComm* subComm) {
  return Guarded(__func__, [&] {
    Require(comm != nullptr && subComm != nullptr, HCCL_E_PTR, "comm or subComm is a null pointer");
    *subComm = nullptr;
    if (rankIds == nullptr && rankNum == 0) return;  // how a rank outside the new group takes part
    Require(rankIds != nullptr, HCCL_E_PTR, "rankIds is a null pointer");
    const auto parent = Find(*comm);
    RequireGroup(rankNum, subCommRankId);
    Require(rankIds[subCommRankId] == parent->rank(), HCCL_E_PARA,
            "rankIds[" + std::to_string(subCommRankId) + "] is not rank " + std::to_string(parent->rank()));
    Require(*std::max_element(rankIds, rankIds + rankNum) < parent->ranks(), HCCL_E_PARA,
            "rankIds names a rank that the parent communicator does not have");
    const std::string meeting = SubGroupKey(parent->key(), subCommId, rankIds, rankNum);
    if (subCommRankId == 0) OpenMeeting(meeting, ConnectTimeout());
    *subComm = Join(meeting, rankNum, subCommRankId, config);
  });
}

HcclResult HcclCommDestroy(HcclComm comm) {
  return Guarded(__func__, [&] {
    const auto group = Find(comm);
    group->Close();
    Forget(comm);
  });
}

HcclResult HcclGetRankSize(HcclComm comm, uint32_t* rankSize) {
  return Guarded(__func__, [&] {
    Require(rankSize != nullptr, HCCL_E_PTR, "rankSize is a null pointer");
    *rankSize = Find(comm)->ranks();
  });
}

HcclResult HcclGetRankId(HcclComm comm, uint32_t* rank) {
  return Guarded(__func__, [&] {
    Require(rank != nullptr, HCCL_E_PTR, "rank is a null pointer");
    *rank = Find(comm)->rank();
  });
}

HcclResult HcclGetCommName(HcclComm comm, char* commName) {
  return Guarded(__func__, [&] {
    Require(commName != nullptr, HCCL_E_PTR, "commName is a null pointer");
    const std::string& name = Find(comm)->name();
    commName[name.copy(commName, COMM_NAME_MAX_LENGTH - 1)] = '\0';
  });
}

HcclResult HcclGetCommAsyncError(HcclComm comm, HcclResult* asyncError) {
  return Guarded(__func__, [&] {
    Require(asyncError != nullptr, HCCL_E_PTR, "asyncError is a null pointer");
    *asyncError = Find(comm)->status();
  });
}

uint32_t HcclGetCommConfigCapability() { return HCCL_COMM_CONFIG_RESERVED; }
