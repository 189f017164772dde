#include "reports.h"

namespace simulator::hccl {

std::string InvalidEnvironment(const std::string& value, const std::string& variable,
                               const std::string& expected) {
  return "EI0001: Value " + value + " for environment variable " + variable +
         " is invalid. Expected value: " + expected + ".";
}

std::string NotifyTimeout(const std::string& peers, const std::string& task, const std::string& operation,
                          const std::string& communicator) {
  return "EI0002: A timeout occurs when the Notify register waits for execution. Waiting peer rank: " +
         peers + "; task information: " + task + "; communication operator information: " + operation +
         "; communicator: " + communicator + ".";
}

std::string InvalidArgument(const std::string& operation, const std::string& value,
                            const std::string& parameter, const std::string& expected) {
  return "EI0003: Failed to verify parameters of operator " + operation + " (operator name). Value " + value +
         " for parameter " + parameter + " is invalid. The expected value is " + expected + ".";
}

std::string UnreadableRankTable(const std::string& file, const std::string& reason) {
  return "EI0004: Failed to parse the ranktable file " + file + ". Reason: " + reason;
}

std::string InconsistentArguments(const std::string& operation, const std::string& communicator,
                                  const std::string& parameter, const std::string& local,
                                  const std::string& remote) {
  return "EI0005: The arguments for collective communication are inconsistent between ranks, operator " +
         operation + ", group " + communicator + ", parameter " + parameter + ", local rank " + local +
         ", remote rank " + remote + ".";
}

std::string LinkTimeout(const std::string& reason) {
  return "EI0006: Getting socket times out. Reason: " + reason;
}

std::string BrokenLink(const std::string& local, const std::string& peer) {
  return "EI0013: An error CQE occurred during operator execution. Local information: " + local +
         ". Peer information: " + peer + ".";
}

std::string InvalidInRankTable(const std::string& value, const std::string& item,
                               const std::string& expected) {
  return "EI0014: Value " + value + " for ranktable variable " + item +
         " is invalid. Expected value: " + expected + ".";
}

std::string RanksNotCollected(const std::string& reason) {
  return "EI0015: Failed to collect cluster information of the communicator based on rootInfo detection. "
         "Reason: " +
         reason + ".";
}

std::string MissingInRankTable(const std::string& item) {
  return "EI0017: Config " + item + " is missing in the ranktable file.";
}

}  // namespace simulator::hccl
