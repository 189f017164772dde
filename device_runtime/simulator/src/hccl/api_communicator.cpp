#include <algorithm>
#include <cstring>
#include <set>
#include <string>

#include "batch.h"
#include "boundary.h"
#include "joining.h"
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

void FillRootInfo(HcclRootInfo* info) {
  Require(info != nullptr, HCCL_E_PTR, "rootInfo is a null pointer");
  (void)CurrentPlace();
  (void)ExecutionTimeout();  // a setting that is wrong is told of by the first call
  const std::string meeting = NewMeetingName();
  OpenMeeting(meeting, ConnectTimeout());
  RootInfo content{};
  std::memcpy(content.mark, kRootInfoMark, sizeof(kRootInfoMark));
  meeting.copy(content.meeting, sizeof(content.meeting) - 1);
  std::memset(info->internal, 0, sizeof(info->internal));
  std::memcpy(info->internal, &content, sizeof(content));
}

CommChoices ChoicesOf(const HcclCommConfig* config) {
  return config == nullptr ? CommChoices{} : ReadCommConfig(config);
}

HcclResult InitByRootInfo(const char* call, uint32_t nRanks, const HcclRootInfo* rootInfo, uint32_t rank,
                          const HcclCommConfig* config, HcclComm* comm) {
  return Guarded(call, [&] {
    Require(comm != nullptr, HCCL_E_PTR, "comm is a null pointer");
    const JoinRequest request{MeetingOf(rootInfo), CurrentPlace(), nRanks, rank, ChoicesOf(config)};
    const auto join = [request, comm] { *comm = Register(Join(request)); };
    if (!KeepJoin(join)) join();
  });
}

void RequireDistinctDevices(uint32_t count, const int32_t* devices) {
  const std::set<int32_t> distinct(devices, devices + count);
  Require(distinct.size() == count, HCCL_E_PARA,
          "Duplicate device id exist in the device list. devSetSize:[" + std::to_string(distinct.size()) +
              "], ndev:[" + std::to_string(count) + "]");
}

// HCCL takes these two for a rank that is not in the new group.
constexpr uint64_t kNoSubComm = 0xFFFFFFFF;

bool IsOutside(const uint32_t* rankIds, uint64_t subCommId) {
  Require((rankIds == nullptr) == (subCommId == kNoSubComm), HCCL_E_PARA,
          "rankIds is a null pointer xor subCommId is invalid: both mean that this rank is not in the group");
  return rankIds == nullptr;
}

}  // namespace

HcclResult HcclGetRootInfo(HcclRootInfo* rootInfo) {
  return Guarded(__func__, [&] { FillRootInfo(rootInfo); });
}

HcclResult HcclCommInitRootInfo(uint32_t nRanks, const HcclRootInfo* rootInfo, uint32_t rank,
                                HcclComm* comm) {
  return InitByRootInfo(__func__, nRanks, rootInfo, rank, nullptr, comm);
}

HcclResult HcclCommInitRootInfoConfig(uint32_t nRanks, const HcclRootInfo* rootInfo, uint32_t rank,
                                      const HcclCommConfig* config, HcclComm* comm) {
  if (config == nullptr) return Report(__func__, HCCL_E_PTR, "config is a null pointer");
  return InitByRootInfo(__func__, nRanks, rootInfo, rank, config, comm);
}

// Several roots only share the work of collecting the ranks of a large cluster.
HcclResult HcclGetRootInfoScalable(HcclRootInfo* rootInfo) {
  return Guarded(__func__, [&] { FillRootInfo(rootInfo); });
}

HcclResult HcclCommInitRootInfoScalable(uint32_t nRanks, uint32_t nRoot, const HcclRootInfo* rootInfoList,
                                        uint32_t rank, uint32_t, const HcclCommConfig* config,
                                        HcclComm* comm) {
  if (nRoot == 0) return Report(__func__, HCCL_E_PARA, "there is no root");
  return InitByRootInfo(__func__, nRanks, rootInfoList, rank, config, comm);
}

HcclResult HcclCommInitClusterInfo(const char* clusterInfo, uint32_t rank, HcclComm* comm) {
  return Guarded(__func__, [&] {
    Require(comm != nullptr, HCCL_E_PTR, "comm is a null pointer");
    *comm = Register(JoinByRankTable(clusterInfo, rank, {}));
  });
}

HcclResult HcclCommInitClusterInfoConfig(const char* clusterInfo, uint32_t rank, HcclCommConfig* config,
                                         HcclComm* comm) {
  return Guarded(__func__, [&] {
    Require(comm != nullptr && config != nullptr, HCCL_E_PTR, "config or comm is a null pointer");
    *comm = Register(JoinByRankTable(clusterInfo, rank, ReadCommConfig(config)));
  });
}

HcclResult HcclCommInitAll(uint32_t ndev, int32_t* devices, HcclComm* comms) {
  return Guarded(__func__, [&] {
    Require(devices != nullptr && comms != nullptr, HCCL_E_PTR, "devices or comms is a null pointer");
    Require(ndev > 0, HCCL_E_PARA, "ndev is invalid, ndev[0]");
    RequireDistinctDevices(ndev, devices);
    const auto communicators = JoinAll({devices, devices + ndev});
    std::transform(communicators.begin(), communicators.end(), comms, Register);
  });
}

HcclResult HcclCreateSubCommConfig(HcclComm* comm, uint32_t rankNum, uint32_t* rankIds, uint64_t subCommId,
                                   uint32_t subCommRankId, HcclCommConfig* config, HcclComm* subComm) {
  return Guarded(__func__, [&] {
    Require(subComm != nullptr, HCCL_E_PTR, "subComm is a null pointer");
    if (IsOutside(rankIds, subCommId)) return;
    Require(comm != nullptr && config != nullptr, HCCL_E_PTR, "comm or config is a null pointer");
    *subComm = Register(JoinPart(*Find(*comm), {rankIds, rankIds + rankNum}, subCommId, subCommRankId,
                                 ReadCommConfig(config)));
  });
}

HcclResult HcclCommDestroy(HcclComm comm) {
  return Guarded(__func__, [&] {
    const auto group = Find(comm);
    group->Close();
    Forget(comm);
  });
}

HcclResult HcclCommSuspend(HcclComm comm) {
  return Guarded(__func__, [&] { Find(comm)->Suspend(); });
}

HcclResult HcclCommResume(HcclComm comm) {
  return Guarded(__func__, [&] { Find(comm)->Resume(); });
}
