#pragma once

#include "acl/acl_op.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum aclCompileType { ACL_COMPILE_SYS, ACL_COMPILE_UNREGISTERED } aclopCompileType;

typedef enum {
  ACL_PRECISION_MODE,
  ACL_AICORE_NUM,
  ACL_AUTO_TUNE_MODE,
  ACL_OP_SELECT_IMPL_MODE,
  ACL_OPTYPELIST_FOR_IMPLMODE,
  ACL_OP_DEBUG_LEVEL,
  ACL_DEBUG_DIR,
  ACL_OP_COMPILER_CACHE_MODE,
  ACL_OP_COMPILER_CACHE_DIR,
  ACL_OP_PERFORMANCE_MODE,
  ACL_OP_JIT_COMPILE,
  ACL_OP_DETERMINISTIC,
  ACL_CUSTOMIZE_DTYPES,
  ACL_OP_PRECISION_MODE,
  ACL_ALLOW_HF32,
  ACL_PRECISION_MODE_V2,
  ACL_OP_DEBUG_OPTION,
} aclCompileOpt;

ACL_FUNC_VISIBILITY aclError aclSetCompileopt(aclCompileOpt option, const char* value);
ACL_FUNC_VISIBILITY size_t aclGetCompileoptSize(aclCompileOpt option);
ACL_FUNC_VISIBILITY aclError aclGetCompileopt(aclCompileOpt option, char* value, size_t length);

ACL_FUNC_VISIBILITY aclError aclopCompileAndExecute(
    const char* type, int inputs, const aclTensorDesc* const inputDescs[],
    const aclDataBuffer* const inputBuffers[], int outputs, const aclTensorDesc* const outputDescs[],
    aclDataBuffer* const outputBuffers[], const aclopAttr* attr, aclopEngineType engine,
    aclopCompileType compile, const char* path, aclrtStream stream);
ACL_FUNC_VISIBILITY aclError aclopCompileAndExecuteV2(
    const char* type, int inputs, aclTensorDesc* inputDescs[], aclDataBuffer* inputBuffers[], int outputs,
    aclTensorDesc* outputDescs[], aclDataBuffer* outputBuffers[], aclopAttr* attr, aclopEngineType engine,
    aclopCompileType compile, const char* path, aclrtStream stream);

#ifdef __cplusplus
}
#endif
