#pragma once

#include "acl/acl_base.h"

#ifdef __cplusplus
extern "C" {
#endif

ACL_FUNC_VISIBILITY aclError aclmdlInitDump();
ACL_FUNC_VISIBILITY aclError aclmdlSetDump(const char* configurationPath);
ACL_FUNC_VISIBILITY aclError aclmdlFinalizeDump();

#ifdef __cplusplus
}
#endif
