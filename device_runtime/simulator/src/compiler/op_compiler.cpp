#include <cstring>
#include <map>
#include <mutex>
#include <string>

#include "acl/acl_op_compiler.h"
#include "runtime/error.h"

using simulator::Fail;

namespace {

// Options are kept so that they can be read back; nothing is compiled with them.
struct Options {
  std::mutex mutex;
  std::map<aclCompileOpt, std::string> values = {{ACL_OP_JIT_COMPILE, "disable"}};
};

Options& TheOptions() {
  static auto* options = new Options;
  return *options;
}

std::string ValueOf(aclCompileOpt option) {
  const std::lock_guard<std::mutex> lock(TheOptions().mutex);
  const auto found = TheOptions().values.find(option);
  return found == TheOptions().values.end() ? std::string() : found->second;
}

}  // namespace

aclError aclSetCompileopt(aclCompileOpt option, const char* value) {
  if (value == nullptr) return Fail(ACL_ERROR_INVALID_PARAM, "aclSetCompileopt: value is null");
  const std::lock_guard<std::mutex> lock(TheOptions().mutex);
  TheOptions().values[option] = value;
  return ACL_SUCCESS;
}

size_t aclGetCompileoptSize(aclCompileOpt option) { return ValueOf(option).size() + 1; }

aclError aclGetCompileopt(aclCompileOpt option, char* value, size_t length) {
  const std::string text = ValueOf(option);
  if (value == nullptr || length < text.size() + 1) {
    return Fail(ACL_ERROR_INVALID_PARAM, "aclGetCompileopt: the buffer is too small");
  }
  std::memcpy(value, text.c_str(), text.size() + 1);
  return ACL_SUCCESS;
}
