#pragma once

#include <string>

namespace simulator::hccl {

// The messages of HCCL's error codes, in the form of its table (hcomm,
// src/legacy/ascend910/common/error_code), because programs and people recognise them by it.

// EI0001
std::string InvalidEnvironment(const std::string& value, const std::string& variable,
                               const std::string& expected);
// EI0002: a task waited for another rank in vain.
std::string NotifyTimeout(const std::string& peers, const std::string& task, const std::string& operation,
                          const std::string& communicator);
// EI0003
std::string InvalidArgument(const std::string& operation, const std::string& value,
                            const std::string& parameter, const std::string& expected);
// EI0004
std::string UnreadableRankTable(const std::string& file, const std::string& reason);
// EI0005
std::string InconsistentArguments(const std::string& operation, const std::string& communicator,
                                  const std::string& parameter, const std::string& local,
                                  const std::string& remote);
// EI0006: the links of a communicator did not come up.
std::string LinkTimeout(const std::string& reason);
// EI0013: a link went down under way.
std::string BrokenLink(const std::string& local, const std::string& peer);
// EI0014
std::string InvalidInRankTable(const std::string& value, const std::string& item,
                               const std::string& expected);
// EI0015: the ranks of a communicator did not find each other.
std::string RanksNotCollected(const std::string& reason);
// EI0017
std::string MissingInRankTable(const std::string& item);

}  // namespace simulator::hccl
