#include "counts.h"
#include "submission.h"

using namespace simulator::hccl;

HcclResult HcclBarrier(HcclComm comm, aclrtStream stream) {
  return Operation(__func__, 1, comm, stream, [&, call = __func__](const Arguments&, const Group& group) {
    SubmitCollective(call, group, stream, Barrier);
  });
}

HcclResult HcclAllReduce(void* sendBuf, void* recvBuf, uint64_t count, HcclDataType dataType, HcclReduceOp op,
                         HcclComm comm, aclrtStream stream) {
  return Operation(__func__, count, comm, stream,
                   [&, call = __func__](const Arguments& arguments, const Group& group) {
                     arguments.Reduction(dataType, op);
                     arguments.Buffer(sendBuf, count, dataType, "sendBuf");
                     arguments.Buffer(recvBuf, count, dataType, "recvBuf");
                     SubmitCollective(call, group, stream, [=](Membership& members) {
                       AllReduce(members, In(sendBuf), Out(recvBuf), count, {dataType, op});
                     });
                   });
}

HcclResult HcclReduce(void* sendBuf, void* recvBuf, uint64_t count, HcclDataType dataType, HcclReduceOp op,
                      uint32_t root, HcclComm comm, aclrtStream stream) {
  return Operation(__func__, count, comm, stream,
                   [&, call = __func__](const Arguments& arguments, const Group& group) {
                     arguments.Reduction(dataType, op);
                     arguments.Rank(*group, root, "root");
                     arguments.Buffer(sendBuf, count, dataType, "sendBuf");
                     arguments.Buffer(recvBuf, group->rank() == root ? count : 0, dataType, "recvBuf");
                     SubmitCollective(call, group, stream, [=](Membership& members) {
                       ReduceToRoot(members, In(sendBuf), Out(recvBuf), count, {dataType, op}, root);
                     });
                   });
}

HcclResult HcclBroadcast(void* buf, uint64_t count, HcclDataType dataType, uint32_t root, HcclComm comm,
                         aclrtStream stream) {
  return Operation(
      __func__, count, comm, stream, [&, call = __func__](const Arguments& arguments, const Group& group) {
        arguments.Type(dataType, "dataType");
        arguments.Rank(*group, root, "root");
        arguments.Buffer(buf, count, dataType, "buf");
        SubmitCollective(call, group, stream,
                         [=](Membership& members) { Broadcast(members, Out(buf), count, dataType, root); });
      });
}

HcclResult HcclScatter(void* sendBuf, void* recvBuf, uint64_t recvCount, HcclDataType dataType, uint32_t root,
                       HcclComm comm, aclrtStream stream) {
  return Operation(__func__, recvCount, comm, stream,
                   [&, call = __func__](const Arguments& arguments, const Group& group) {
                     arguments.Type(dataType, "dataType");
                     arguments.Rank(*group, root, "root");
                     const uint64_t sent = group->rank() == root ? Times(recvCount, group->ranks()) : 0;
                     arguments.Buffer(sendBuf, sent, dataType, "sendBuf");
                     arguments.Buffer(recvBuf, recvCount, dataType, "recvBuf");
                     SubmitCollective(call, group, stream, [=](Membership& members) {
                       Scatter(members, In(sendBuf), Out(recvBuf), recvCount, dataType, root);
                     });
                   });
}

HcclResult HcclAllGather(void* sendBuf, void* recvBuf, uint64_t sendCount, HcclDataType dataType,
                         HcclComm comm, aclrtStream stream) {
  return Operation(
      __func__, sendCount, comm, stream,
      [&, call = __func__](const Arguments& arguments, const Group& group) {
        Layout layout = EvenLayout(group->ranks(), sendCount);
        arguments.Type(dataType, "dataType");
        arguments.Buffer(sendBuf, sendCount, dataType, "sendBuf");
        arguments.Buffer(recvBuf, Extent(layout), dataType, "recvBuf");
        SubmitCollective(call, group, stream, [=, layout = std::move(layout)](Membership& members) {
          AllGather(members, In(sendBuf), Out(recvBuf), layout, dataType, Command::kAllGather);
        });
      });
}

HcclResult HcclReduceScatter(void* sendBuf, void* recvBuf, uint64_t recvCount, HcclDataType dataType,
                             HcclReduceOp op, HcclComm comm, aclrtStream stream) {
  return Operation(
      __func__, recvCount, comm, stream,
      [&, call = __func__](const Arguments& arguments, const Group& group) {
        Layout layout = EvenLayout(group->ranks(), recvCount);
        arguments.Reduction(dataType, op);
        arguments.Buffer(sendBuf, Extent(layout), dataType, "sendBuf");
        arguments.Buffer(recvBuf, recvCount, dataType, "recvBuf");
        SubmitCollective(call, group, stream, [=, layout = std::move(layout)](Membership& members) {
          ReduceScatter(members, In(sendBuf), layout, Out(recvBuf), {dataType, op}, Command::kReduceScatter);
        });
      });
}
