#include <algorithm>
#include <iterator>
#include <string>
#include <vector>

#include "batch.h"
#include "submission.h"

namespace {

using namespace simulator::hccl;

void SubmitTransfers(const char* call, const Arguments& arguments, std::vector<Transfer> transfers,
                     const Group& group, aclrtStream stream) {
  for (const Transfer& transfer : transfers) {
    arguments.Type(transfer.type, "dataType");
    arguments.Rank(*group, transfer.peer, "remoteRank");
    arguments.Buffer(transfer.buffer, transfer.count, transfer.type, "buf");
  }
  SubmitOrKeep(call, group, stream, std::move(transfers));
}

HcclResult SubmitTransfer(const char* call, const Transfer& transfer, HcclComm comm, aclrtStream stream) {
  return Operation(call, transfer.count, comm, stream, [&](const Arguments& arguments, const Group& group) {
    Require(transfer.peer != group->rank(), HCCL_E_PARA, "a rank cannot exchange with itself by one call");
    SubmitTransfers(call, arguments, {transfer}, group, stream);
  });
}

Transfer TransferOf(const HcclSendRecvItem& item) {
  Require(item.sendRecvType == HCCL_SEND || item.sendRecvType == HCCL_RECV, HCCL_E_PARA,
          "sendRecvType " + std::to_string(item.sendRecvType) + " does not exist");
  const auto direction =
      item.sendRecvType == HCCL_SEND ? Transfer::Direction::kSend : Transfer::Direction::kReceive;
  return {direction, Out(item.buf), item.count, item.dataType, item.remoteRank};
}

}  // namespace

HcclResult HcclSend(void* sendBuf, uint64_t count, HcclDataType dataType, uint32_t destRank, HcclComm comm,
                    aclrtStream stream) {
  return SubmitTransfer(__func__, {Transfer::Direction::kSend, Out(sendBuf), count, dataType, destRank}, comm,
                        stream);
}

HcclResult HcclRecv(void* recvBuf, uint64_t count, HcclDataType dataType, uint32_t srcRank, HcclComm comm,
                    aclrtStream stream) {
  return SubmitTransfer(__func__, {Transfer::Direction::kReceive, Out(recvBuf), count, dataType, srcRank},
                        comm, stream);
}

HcclResult HcclBatchSendRecv(HcclSendRecvItem* sendRecvInfo, uint32_t itemNum, HcclComm comm,
                             aclrtStream stream) {
  return Operation(
      __func__, itemNum, comm, stream, [&, call = __func__](const Arguments& arguments, const Group& group) {
        arguments.Pointer(sendRecvInfo, "sendRecvInfo");
        std::vector<Transfer> transfers;
        std::transform(sendRecvInfo, sendRecvInfo + itemNum, std::back_inserter(transfers), TransferOf);
        SubmitTransfers(call, arguments, std::move(transfers), group, stream);
      });
}

HcclResult HcclGroupStart() { return Guarded(__func__, OpenBatch); }

HcclResult HcclGroupEnd() { return Guarded(__func__, CloseBatch); }
