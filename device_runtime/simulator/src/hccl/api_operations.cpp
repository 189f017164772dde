#include <algorithm>
#include <string>
#include <vector>

#include "batch.h"
#include "boundary.h"
#include "collectives.h"
#include "counts.h"
#include "element.h"
#include "point_to_point.h"
#include "runtime/memory.h"

namespace {

using namespace simulator::hccl;

using Group = std::shared_ptr<Communicator>;

const std::byte* In(const void* pointer) { return static_cast<const std::byte*>(pointer); }
std::byte* Out(const void* pointer) { return static_cast<std::byte*>(const_cast<void*>(pointer)); }

void RequireType(HcclDataType type) {
  Require(ElementSize(type) > 0, HCCL_E_PARA, "data type " + std::to_string(type) + " does not exist");
}

void RequireReduction(HcclDataType type, HcclReduceOp operation) {
  RequireType(type);
  Require(operation >= HCCL_REDUCE_SUM && operation <= HCCL_REDUCE_MIN, HCCL_E_PARA,
          "reduction " + std::to_string(operation) + " does not exist");
  Require(CanReduce(type), HCCL_E_NOT_SUPPORT, std::string("no reduction over ") + Name(type));
}

void RequireRank(const Communicator& group, uint32_t rank, const char* role) {
  Require(rank < group.ranks(), HCCL_E_PARA,
          std::string(role) + " is rank " + std::to_string(rank) + " of a group of " +
              std::to_string(group.ranks()));
}

void RequireBuffer(const void* buffer, uint64_t count, HcclDataType type, const char* name) {
  if (count == 0) return;
  Require(buffer != nullptr, HCCL_E_PTR, std::string(name) + " is a null pointer");
  const size_t bytes = Times(count, ElementSize(type));
  Require(simulator::IsDeviceMemory(buffer, bytes), HCCL_E_PARA,
          std::string(name) + " with " + std::to_string(bytes) + " bytes is not in the memory of a device");
}

std::vector<uint64_t> ReadArray(const Communicator& group, const void* array, const char* name) {
  Require(array != nullptr, HCCL_E_PTR, std::string(name) + " is a null pointer");
  const auto* values = static_cast<const uint64_t*>(array);
  return {values, values + group.ranks()};
}

Layout ReadLayout(const Communicator& group, const void* counts, const void* displacements) {
  return {ReadArray(group, counts, "counts"), ReadArray(group, displacements, "displacements")};
}

// Elements from the start of the buffer to the end of its last block.
uint64_t Extent(const Layout& layout) {
  uint64_t extent = 0;
  for (size_t i = 0; i < layout.counts.size(); ++i) {
    if (layout.counts[i] > 0) extent = std::max(extent, Plus(layout.displacements[i], layout.counts[i]));
  }
  return extent;
}

// Blocks one after the other.
Layout PackedLayout(std::vector<uint64_t> counts) {
  Layout layout{std::move(counts), {}};
  uint64_t next = 0;
  for (const uint64_t count : layout.counts) {
    layout.displacements.push_back(next);
    next = Plus(next, count);
  }
  return layout;
}

template <typename Work>
void SubmitCollective(const char* call, const Group& group, aclrtStream stream, Work work) {
  Submit(call, group, stream, [group, work = std::move(work)] {
    const std::lock_guard<std::mutex> lane(group->collective_lane());
    work(*group);
  });
}

void SubmitReduceScatter(const char* call, const void* send, Layout layout, void* receive,
                         Reduction reduction, Command command, HcclComm comm, aclrtStream stream) {
  const Group group = Find(comm);
  RequireReduction(reduction.type, reduction.operation);
  RequireBuffer(send, Extent(layout), reduction.type, "sendBuf");
  RequireBuffer(receive, layout.counts[group->rank()], reduction.type, "recvBuf");
  SubmitCollective(call, group, stream, [=, layout = std::move(layout)](Communicator& members) {
    ReduceScatter(members, In(send), layout, Out(receive), reduction, command);
  });
}

void SubmitAllGather(const char* call, const void* send, void* receive, Layout layout, HcclDataType type,
                     Command command, HcclComm comm, aclrtStream stream) {
  const Group group = Find(comm);
  RequireType(type);
  RequireBuffer(send, layout.counts[group->rank()], type, "sendBuf");
  RequireBuffer(receive, Extent(layout), type, "recvBuf");
  SubmitCollective(call, group, stream, [=, layout = std::move(layout)](Communicator& members) {
    AllGather(members, In(send), Out(receive), layout, type, command);
  });
}

struct ExchangeEnd {
  const void* buffer;
  Layout layout;
  HcclDataType type;
};

void SubmitAllToAll(const char* call, const ExchangeEnd& send, const ExchangeEnd& receive, Command command,
                    HcclComm comm, aclrtStream stream) {
  const Group group = Find(comm);
  RequireType(send.type);
  Require(send.type == receive.type, HCCL_E_PARA,
          std::string("sendType is ") + Name(send.type) + ", recvType is " + Name(receive.type));
  RequireBuffer(send.buffer, Extent(send.layout), send.type, "sendBuf");
  RequireBuffer(receive.buffer, Extent(receive.layout), receive.type, "recvBuf");
  SubmitCollective(call, group, stream, [=](Communicator& members) {
    AllToAll(members, In(send.buffer), send.layout, Out(receive.buffer), receive.layout, send.type, command);
  });
}

void SubmitTransfers(const char* call, std::vector<Transfer> transfers, const Group& group,
                     aclrtStream stream) {
  for (const Transfer& transfer : transfers) {
    RequireType(transfer.type);
    RequireRank(*group, transfer.peer, "the peer");
    RequireBuffer(transfer.buffer, transfer.count, transfer.type, "the buffer");
  }
  SubmitOrKeep(call, group, stream, std::move(transfers));
}

void SubmitTransfer(const char* call, const Transfer& transfer, HcclComm comm, aclrtStream stream) {
  const Group group = Find(comm);
  Require(transfer.peer != group->rank(), HCCL_E_PARA, "a rank cannot exchange with itself by one call");
  SubmitTransfers(call, {transfer}, group, stream);
}

Transfer TransferOf(const HcclSendRecvItem& item) {
  Require(item.sendRecvType == HCCL_SEND || item.sendRecvType == HCCL_RECV, HCCL_E_PARA,
          "sendRecvType " + std::to_string(item.sendRecvType) + " does not exist");
  const auto direction =
      item.sendRecvType == HCCL_SEND ? Transfer::Direction::kSend : Transfer::Direction::kReceive;
  return {direction, Out(item.buf), item.count, item.dataType, item.remoteRank};
}

}  // namespace

HcclResult HcclBarrier(HcclComm comm, aclrtStream stream) {
  return Guarded(__func__, [&, call = __func__] { SubmitCollective(call, Find(comm), stream, Barrier); });
}

HcclResult HcclAllReduce(void* sendBuf, void* recvBuf, uint64_t count, HcclDataType dataType, HcclReduceOp op,
                         HcclComm comm, aclrtStream stream) {
  return Guarded(__func__, [&, call = __func__] {
    RequireReduction(dataType, op);
    RequireBuffer(sendBuf, count, dataType, "sendBuf");
    RequireBuffer(recvBuf, count, dataType, "recvBuf");
    SubmitCollective(call, Find(comm), stream, [=](Communicator& group) {
      AllReduce(group, In(sendBuf), Out(recvBuf), count, {dataType, op});
    });
  });
}

HcclResult HcclReduce(void* sendBuf, void* recvBuf, uint64_t count, HcclDataType dataType, HcclReduceOp op,
                      uint32_t root, HcclComm comm, aclrtStream stream) {
  return Guarded(__func__, [&, call = __func__] {
    const Group group = Find(comm);
    RequireReduction(dataType, op);
    RequireRank(*group, root, "the root");
    RequireBuffer(sendBuf, count, dataType, "sendBuf");
    RequireBuffer(recvBuf, group->rank() == root ? count : 0, dataType, "recvBuf");
    SubmitCollective(call, group, stream, [=](Communicator& members) {
      ReduceToRoot(members, In(sendBuf), Out(recvBuf), count, {dataType, op}, root);
    });
  });
}

HcclResult HcclReduceScatter(void* sendBuf, void* recvBuf, uint64_t recvCount, HcclDataType dataType,
                             HcclReduceOp op, HcclComm comm, aclrtStream stream) {
  return Guarded(__func__, [&, call = __func__] {
    SubmitReduceScatter(call, sendBuf, EvenLayout(Find(comm)->ranks(), recvCount), recvBuf, {dataType, op},
                        Command::kReduceScatter, comm, stream);
  });
}

HcclResult HcclReduceScatterV(void* sendBuf, const void* sendCounts, const void* sendDispls, void* recvBuf,
                              uint64_t recvCount, HcclDataType dataType, HcclReduceOp op, HcclComm comm,
                              aclrtStream stream) {
  return Guarded(__func__, [&, call = __func__] {
    const Group group = Find(comm);
    Layout layout = ReadLayout(*group, sendCounts, sendDispls);
    Require(recvCount == layout.counts[group->rank()], HCCL_E_PARA,
            "recvCount differs from what sendCounts says for this rank");
    SubmitReduceScatter(call, sendBuf, std::move(layout), recvBuf, {dataType, op}, Command::kReduceScatterV,
                        comm, stream);
  });
}

HcclResult HcclBroadcast(void* buf, uint64_t count, HcclDataType dataType, uint32_t root, HcclComm comm,
                         aclrtStream stream) {
  return Guarded(__func__, [&, call = __func__] {
    const Group group = Find(comm);
    RequireType(dataType);
    RequireRank(*group, root, "the root");
    RequireBuffer(buf, count, dataType, "buf");
    SubmitCollective(call, group, stream,
                     [=](Communicator& members) { Broadcast(members, Out(buf), count, dataType, root); });
  });
}

HcclResult HcclScatter(void* sendBuf, void* recvBuf, uint64_t recvCount, HcclDataType dataType, uint32_t root,
                       HcclComm comm, aclrtStream stream) {
  return Guarded(__func__, [&, call = __func__] {
    const Group group = Find(comm);
    RequireType(dataType);
    RequireRank(*group, root, "the root");
    RequireBuffer(sendBuf, group->rank() == root ? Times(recvCount, group->ranks()) : 0, dataType, "sendBuf");
    RequireBuffer(recvBuf, recvCount, dataType, "recvBuf");
    SubmitCollective(call, group, stream, [=](Communicator& members) {
      Scatter(members, In(sendBuf), Out(recvBuf), recvCount, dataType, root);
    });
  });
}

HcclResult HcclAllGather(void* sendBuf, void* recvBuf, uint64_t sendCount, HcclDataType dataType,
                         HcclComm comm, aclrtStream stream) {
  return Guarded(__func__, [&, call = __func__] {
    SubmitAllGather(call, sendBuf, recvBuf, EvenLayout(Find(comm)->ranks(), sendCount), dataType,
                    Command::kAllGather, comm, stream);
  });
}

HcclResult HcclAllGatherV(void* sendBuf, uint64_t sendCount, void* recvBuf, const void* recvCounts,
                          const void* recvDispls, HcclDataType dataType, HcclComm comm, aclrtStream stream) {
  return Guarded(__func__, [&, call = __func__] {
    const Group group = Find(comm);
    Layout layout = ReadLayout(*group, recvCounts, recvDispls);
    Require(sendCount == layout.counts[group->rank()], HCCL_E_PARA,
            "sendCount differs from what recvCounts says for this rank");
    SubmitAllGather(call, sendBuf, recvBuf, std::move(layout), dataType, Command::kAllGatherV, comm, stream);
  });
}

HcclResult HcclAlltoAll(const void* sendBuf, uint64_t sendCount, HcclDataType sendType, const void* recvBuf,
                        uint64_t recvCount, HcclDataType recvType, HcclComm comm, aclrtStream stream) {
  return Guarded(__func__, [&, call = __func__] {
    const uint32_t ranks = Find(comm)->ranks();
    SubmitAllToAll(call, {sendBuf, EvenLayout(ranks, sendCount), sendType},
                   {recvBuf, EvenLayout(ranks, recvCount), recvType}, Command::kAllToAll, comm, stream);
  });
}

HcclResult HcclAlltoAllV(const void* sendBuf, const void* sendCounts, const void* sdispls,
                         HcclDataType sendType, const void* recvBuf, const void* recvCounts,
                         const void* rdispls, HcclDataType recvType, HcclComm comm, aclrtStream stream) {
  return Guarded(__func__, [&, call = __func__] {
    const Group group = Find(comm);
    SubmitAllToAll(call, {sendBuf, ReadLayout(*group, sendCounts, sdispls), sendType},
                   {recvBuf, ReadLayout(*group, recvCounts, rdispls), recvType}, Command::kAllToAllV, comm,
                   stream);
  });
}

HcclResult HcclAlltoAllVC(const void* sendBuf, const void* sendCountMatrix, HcclDataType sendType,
                          const void* recvBuf, HcclDataType recvType, HcclComm comm, aclrtStream stream) {
  return Guarded(__func__, [&, call = __func__] {
    const Group group = Find(comm);
    Require(sendCountMatrix != nullptr, HCCL_E_PTR, "sendCountMatrix is a null pointer");
    const auto* matrix = static_cast<const uint64_t*>(sendCountMatrix);
    const uint32_t ranks = group->ranks();
    const uint64_t* row = matrix + size_t{group->rank()} * ranks;
    std::vector<uint64_t> column;
    column.reserve(ranks);
    for (uint32_t peer = 0; peer < ranks; ++peer)
      column.push_back(matrix[size_t{peer} * ranks + group->rank()]);
    SubmitAllToAll(call, {sendBuf, PackedLayout({row, row + ranks}), sendType},
                   {recvBuf, PackedLayout(std::move(column)), recvType}, Command::kAllToAllV, comm, stream);
  });
}

HcclResult HcclSend(void* sendBuf, uint64_t count, HcclDataType dataType, uint32_t destRank, HcclComm comm,
                    aclrtStream stream) {
  return Guarded(__func__, [&, call = __func__] {
    SubmitTransfer(call, {Transfer::Direction::kSend, Out(sendBuf), count, dataType, destRank}, comm, stream);
  });
}

HcclResult HcclRecv(void* recvBuf, uint64_t count, HcclDataType dataType, uint32_t srcRank, HcclComm comm,
                    aclrtStream stream) {
  return Guarded(__func__, [&, call = __func__] {
    SubmitTransfer(call, {Transfer::Direction::kReceive, Out(recvBuf), count, dataType, srcRank}, comm,
                   stream);
  });
}

HcclResult HcclBatchSendRecv(HcclSendRecvItem* sendRecvInfo, uint32_t itemNum, HcclComm comm,
                             aclrtStream stream) {
  return Guarded(__func__, [&, call = __func__] {
    Require(sendRecvInfo != nullptr && itemNum > 0, HCCL_E_PTR, "sendRecvInfo holds no item");
    std::vector<Transfer> transfers;
    std::transform(sendRecvInfo, sendRecvInfo + itemNum, std::back_inserter(transfers), TransferOf);
    SubmitTransfers(call, std::move(transfers), Find(comm), stream);
  });
}

HcclResult HcclGroupStart() { return Guarded(__func__, OpenBatch); }

HcclResult HcclGroupEnd() { return Guarded(__func__, CloseBatch); }
