#include "ms_tools_ext.h"

#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "profiler/annotate.h"

using namespace simulator;

struct mstxDomainRegistration_st {
  std::string name;
};

namespace {

constexpr const char* kDefaultDomain = "default";

struct Domains {
  std::mutex mutex;
  std::map<mstxDomainHandle_t, std::unique_ptr<mstxDomainRegistration_st>> live;
};

Domains& TheDomains() {
  static auto* domains = new Domains;
  return *domains;
}

// Empty when there is no such domain.
std::string NameOf(mstxDomainHandle_t domain) {
  Domains& domains = TheDomains();
  const std::lock_guard<std::mutex> lock(domains.mutex);
  const auto found = domains.live.find(domain);
  return found == domains.live.end() ? "" : found->second->name;
}

}  // namespace

void mstxMarkA(const char* message, aclrtStream stream) {
  if (message != nullptr) profiler::Mark(kDefaultDomain, message, stream);
}

mstxRangeId mstxRangeStartA(const char* message, aclrtStream stream) {
  return message == nullptr ? 0 : profiler::StartRange(kDefaultDomain, message, stream);
}

void mstxRangeEnd(mstxRangeId id) { profiler::EndRange(id); }

mstxDomainHandle_t mstxDomainCreateA(const char* name) {
  if (name == nullptr || *name == '\0') return nullptr;
  auto domain = std::make_unique<mstxDomainRegistration_st>(mstxDomainRegistration_st{name});
  mstxDomainHandle_t handle = domain.get();
  Domains& domains = TheDomains();
  const std::lock_guard<std::mutex> lock(domains.mutex);
  domains.live.emplace(handle, std::move(domain));
  return handle;
}

void mstxDomainDestroy(mstxDomainHandle_t domain) {
  Domains& domains = TheDomains();
  const std::lock_guard<std::mutex> lock(domains.mutex);
  domains.live.erase(domain);
}

void mstxDomainMarkA(mstxDomainHandle_t domain, const char* message, aclrtStream stream) {
  const std::string name = NameOf(domain);
  if (message != nullptr && !name.empty()) profiler::Mark(name, message, stream);
}

mstxRangeId mstxDomainRangeStartA(mstxDomainHandle_t domain, const char* message, aclrtStream stream) {
  const std::string name = NameOf(domain);
  return message == nullptr || name.empty() ? 0 : profiler::StartRange(name, message, stream);
}

void mstxDomainRangeEnd(mstxDomainHandle_t, mstxRangeId id) { profiler::EndRange(id); }
