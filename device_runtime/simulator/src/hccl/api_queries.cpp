#include <string>

#include "boundary.h"

using namespace simulator::hccl;

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
    *asyncError = Find(comm)->AsyncError();
  });
}

uint32_t HcclGetCommConfigCapability() { return HCCL_COMM_CONFIG_RESERVED; }
