// The operators of the older aclop interface. The library of operators that is built for a PyTorch has some;
// without it, all are refused.
#include <dlfcn.h>

#include <string>

#include "acl/acl_op_compiler.h"
#include "compiler/legacy_library.h"
#include "runtime/error.h"
#include "runtime/stream.h"

namespace {

LegacyLibraryFunction* Library() {
  static auto* const function = [] {
    void* library = dlopen("libopapi_aten.so", RTLD_NOW | RTLD_LOCAL);
    void* symbol = library == nullptr ? nullptr : dlsym(library, kLegacyLibraryFunction);
    return reinterpret_cast<LegacyLibraryFunction*>(symbol);
  }();
  return function;
}

aclError Refuse(const char* type, aclrtStream stream) {
  return simulator::FailOnStream(
      stream, ACL_ERROR_FEATURE_UNSUPPORTED,
      std::string("operator ") + type +
          ", of the old aclop interface, is not implemented by the simulated CANN");
}

aclError Execute(const char* type, const LegacyArguments& arguments, aclrtStream stream) {
  if (type == nullptr) return simulator::Fail(ACL_ERROR_INVALID_PARAM, "an operator without a name");
  if (Library() == nullptr) return Refuse(type, stream);
  const LegacyResult result = Library()(type, arguments, stream);
  return result.known ? result.status : Refuse(type, stream);
}

}  // namespace

aclError aclopCompileAndExecute(const char* type, int inputs, const aclTensorDesc* const inputDescs[],
                                const aclDataBuffer* const inputBuffers[], int outputs,
                                const aclTensorDesc* const outputDescs[],
                                aclDataBuffer* const outputBuffers[], const aclopAttr* attr,
                                aclopEngineType /*engine*/, aclopCompileType /*compile*/,
                                const char* /*path*/, aclrtStream stream) {
  return Execute(type, {inputs, inputDescs, inputBuffers, outputs, outputDescs, outputBuffers, attr, nullptr},
                 stream);
}

// Its outputs get shapes that depend on the data: it returns when they are known.
aclError aclopCompileAndExecuteV2(const char* type, int inputs, aclTensorDesc* inputDescs[],
                                  aclDataBuffer* inputBuffers[], int outputs, aclTensorDesc* outputDescs[],
                                  aclDataBuffer* outputBuffers[], aclopAttr* attr, aclopEngineType /*engine*/,
                                  aclopCompileType /*compile*/, const char* /*path*/, aclrtStream stream) {
  return Execute(type,
                 {inputs, inputDescs, inputBuffers, outputs, outputDescs, outputBuffers, attr, outputDescs},
                 stream);
}
