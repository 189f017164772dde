#include "element.h"
#include "submission.h"

// The collectives with a count for each rank, and those in which every rank sends to every other.

namespace {

using namespace simulator::hccl;

// Whether there is something to do is known on all ranks only together.
constexpr uint64_t kUnknown = 1;

struct End {
  const void* buffer;
  Layout layout;
  HcclDataType type;
};

void SubmitAllToAll(const char* call, const Arguments& arguments, const End& send, const End& receive,
                    Command command, const Group& group, aclrtStream stream) {
  arguments.Type(send.type, "sendType");
  arguments.Type(receive.type, "recvType");
  Require(send.type == receive.type, HCCL_E_PARA,
          std::string("sendType is ") + Name(send.type) + ", recvType is " + Name(receive.type));
  arguments.Buffer(send.buffer, Extent(send.layout), send.type, "sendBuf");
  arguments.Buffer(receive.buffer, Extent(receive.layout), receive.type, "recvBuf");
  SubmitCollective(call, group, stream, [=](Membership& members) {
    AllToAll(members, In(send.buffer), send.layout, Out(receive.buffer), receive.layout, send.type, command);
  });
}

}  // namespace

HcclResult HcclReduceScatterV(void* sendBuf, const void* sendCounts, const void* sendDispls, void* recvBuf,
                              uint64_t recvCount, HcclDataType dataType, HcclReduceOp op, HcclComm comm,
                              aclrtStream stream) {
  return Operation(
      __func__, kUnknown, comm, stream, [&, call = __func__](const Arguments& arguments, const Group& group) {
        Layout layout = arguments.LayoutOf(*group, sendCounts, sendDispls);
        arguments.Same(recvCount, layout.counts[group->rank()], "recvCount");
        arguments.Reduction(dataType, op);
        arguments.Buffer(sendBuf, Extent(layout), dataType, "sendBuf");
        arguments.Buffer(recvBuf, recvCount, dataType, "recvBuf");
        SubmitCollective(call, group, stream, [=, layout = std::move(layout)](Membership& members) {
          ReduceScatter(members, In(sendBuf), layout, Out(recvBuf), {dataType, op}, Command::kReduceScatterV);
        });
      });
}

HcclResult HcclAllGatherV(void* sendBuf, uint64_t sendCount, void* recvBuf, const void* recvCounts,
                          const void* recvDispls, HcclDataType dataType, HcclComm comm, aclrtStream stream) {
  return Operation(
      __func__, kUnknown, comm, stream, [&, call = __func__](const Arguments& arguments, const Group& group) {
        Layout layout = arguments.LayoutOf(*group, recvCounts, recvDispls);
        arguments.Same(sendCount, layout.counts[group->rank()], "sendCount");
        arguments.Type(dataType, "dataType");
        arguments.Buffer(sendBuf, sendCount, dataType, "sendBuf");
        arguments.Buffer(recvBuf, Extent(layout), dataType, "recvBuf");
        SubmitCollective(call, group, stream, [=, layout = std::move(layout)](Membership& members) {
          AllGather(members, In(sendBuf), Out(recvBuf), layout, dataType, Command::kAllGatherV);
        });
      });
}

HcclResult HcclAlltoAll(const void* sendBuf, uint64_t sendCount, HcclDataType sendType, const void* recvBuf,
                        uint64_t recvCount, HcclDataType recvType, HcclComm comm, aclrtStream stream) {
  return Operation(__func__, sendCount + recvCount, comm, stream,
                   [&, call = __func__](const Arguments& arguments, const Group& group) {
                     const uint32_t ranks = group->ranks();
                     SubmitAllToAll(call, arguments, {sendBuf, EvenLayout(ranks, sendCount), sendType},
                                    {recvBuf, EvenLayout(ranks, recvCount), recvType}, Command::kAllToAll,
                                    group, stream);
                   });
}

HcclResult HcclAlltoAllV(const void* sendBuf, const void* sendCounts, const void* sdispls,
                         HcclDataType sendType, const void* recvBuf, const void* recvCounts,
                         const void* rdispls, HcclDataType recvType, HcclComm comm, aclrtStream stream) {
  return Operation(
      __func__, kUnknown, comm, stream, [&, call = __func__](const Arguments& arguments, const Group& group) {
        SubmitAllToAll(call, arguments, {sendBuf, arguments.LayoutOf(*group, sendCounts, sdispls), sendType},
                       {recvBuf, arguments.LayoutOf(*group, recvCounts, rdispls), recvType},
                       Command::kAllToAllV, group, stream);
      });
}

HcclResult HcclAlltoAllVC(const void* sendBuf, const void* sendCountMatrix, HcclDataType sendType,
                          const void* recvBuf, HcclDataType recvType, HcclComm comm, aclrtStream stream) {
  return Operation(__func__, kUnknown, comm, stream,
                   [&, call = __func__](const Arguments& arguments, const Group& group) {
                     arguments.Pointer(sendCountMatrix, "sendCountMatrix");
                     const auto* matrix = static_cast<const uint64_t*>(sendCountMatrix);
                     const size_t ranks = group->ranks();
                     const uint64_t* row = matrix + group->rank() * ranks;
                     std::vector<uint64_t> column(ranks);
                     for (size_t peer = 0; peer < ranks; ++peer)
                       column[peer] = matrix[peer * ranks + group->rank()];
                     SubmitAllToAll(call, arguments, {sendBuf, PackedLayout({row, row + ranks}), sendType},
                                    {recvBuf, PackedLayout(std::move(column)), recvType}, Command::kAllToAllV,
                                    group, stream);
                   });
}
