#pragma once

#include <cstdint>

#include "acl/acl_base.h"

// Marks and ranges of programs, after the ms_tools_ext.h that torch_npu is built with.

#ifdef __cplusplus
extern "C" {
#endif

typedef uint64_t mstxRangeId;
typedef struct mstxDomainRegistration_st* mstxDomainHandle_t;

ACL_FUNC_VISIBILITY void mstxMarkA(const char* message, aclrtStream stream);
ACL_FUNC_VISIBILITY mstxRangeId mstxRangeStartA(const char* message, aclrtStream stream);
ACL_FUNC_VISIBILITY void mstxRangeEnd(mstxRangeId id);

ACL_FUNC_VISIBILITY mstxDomainHandle_t mstxDomainCreateA(const char* name);
ACL_FUNC_VISIBILITY void mstxDomainDestroy(mstxDomainHandle_t domain);
ACL_FUNC_VISIBILITY void mstxDomainMarkA(mstxDomainHandle_t domain, const char* message, aclrtStream stream);
ACL_FUNC_VISIBILITY mstxRangeId mstxDomainRangeStartA(mstxDomainHandle_t domain, const char* message,
                                                      aclrtStream stream);
ACL_FUNC_VISIBILITY void mstxDomainRangeEnd(mstxDomainHandle_t domain, mstxRangeId id);

#ifdef __cplusplus
}
#endif
