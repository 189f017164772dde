#include "comm_config.h"

#include <cstring>

#include "failure.h"
#include "reports.h"

namespace simulator::hccl {
namespace {

struct Head {
  size_t size;
  uint32_t magic;
  uint32_t version;
};
static_assert(sizeof(Head) <= HCCL_COMM_CONFIG_INFO_BYTES);

// The first version of the structure with a field (hcomm, comm_config.cc).
constexpr uint32_t kVersionOfName = 2;
constexpr uint32_t kVersionOfZeroCopy = 7;
constexpr uint32_t kVersionOfExecutionTimeout = 8;

class Reader {
 public:
  explicit Reader(const HcclCommConfig* config) : begin_(reinterpret_cast<const char*>(config)) {
    std::memcpy(&head_, config->reserved, sizeof(head_));
    RequireValue(head_.magic == HCCL_COMM_CONFIG_MAGIC_WORD, std::to_string(head_.magic), "magic word",
                 "what HcclCommConfigInit() sets");
  }

  // Callers that say a new version may still give an old, shorter structure.
  template <typename Field>
  bool Has(const Field& field, uint32_t since) const {
    const char* end = reinterpret_cast<const char*>(&field) + sizeof(field);
    return head_.version >= since && end <= begin_ + head_.size;
  }

  static void RequireValue(bool holds, const std::string& value, const char* parameter,
                           const char* expected) {
    Require(holds, HCCL_E_PARA, InvalidArgument("HcclCommInitRootInfoConfig", value, parameter, expected));
  }

 private:
  const char* begin_;
  Head head_{};
};

void CheckBufferSize(uint32_t megabytes) {
  Reader::RequireValue(megabytes >= 1, std::to_string(megabytes), "hcclBufferSize",
                       "equal to or greater than 1(MB)");
}

void CheckDeterministic(uint32_t value) {
  if (value == HCCL_COMM_DETERMINISTIC_CONFIG_NOT_SET) return;
  Reader::RequireValue(value <= 2, std::to_string(value), "hcclDeterministic",
                       "0(disable), 1(enable) or 2(strict)");
  Reader::RequireValue(value < 2 || TheChip() == Chip::kA2, std::to_string(value), "hcclDeterministic",
                       "2(strict) on Atlas A2 only");
}

}  // namespace

CommChoices ReadCommConfig(const HcclCommConfig* config) {
  CommChoices choices;
  const Reader reader(config);
  if (reader.Has(config->hcclBufferSize, 1)) CheckBufferSize(config->hcclBufferSize);
  if (reader.Has(config->hcclDeterministic, 1)) CheckDeterministic(config->hcclDeterministic);
  if (reader.Has(config->hcclCommName, kVersionOfName)) {
    choices.name.assign(config->hcclCommName, strnlen(config->hcclCommName, COMM_NAME_MAX_LENGTH - 1));
  }
  if (reader.Has(config->aclGraphZeroCopyEnable, kVersionOfZeroCopy)) {
    Reader::RequireValue(config->aclGraphZeroCopyEnable <= 1, std::to_string(config->aclGraphZeroCopyEnable),
                         "aclGraphZeroCopy", "0 or 1");
  }
  if (reader.Has(config->hcclExecTimeOut, kVersionOfExecutionTimeout) &&
      AcceptsExecutionTimeout(TheChip(), config->hcclExecTimeOut)) {
    choices.execution_timeout = std::chrono::seconds(config->hcclExecTimeOut);
  }
  return choices;
}

}  // namespace simulator::hccl
