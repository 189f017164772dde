#include <array>
#include <cstddef>

#include "acl/acl_prof.h"
#include "runtime/error.h"

namespace simulator::profiler {
namespace {

// The layout that torch_npu and CANN share without a header for it (torch_npu: csrc/profiler/feature_mgr.h):
// both structures have a virtual destructor, so each begins with a pointer to its table.
struct FeatureInfo {
  FeatureInfo() = default;
  FeatureInfo(const FeatureInfo&) = delete;
  FeatureInfo& operator=(const FeatureInfo&) = delete;
  virtual ~FeatureInfo() = default;

  std::array<char, 16> newerIsFine{"1"};
  std::array<char, 16> version{"1"};
  std::array<char, 16> component{"all"};
  std::array<char, 16> componentVersion{"all"};
  std::array<char, 128> whenUnknown{"torch_npu does not know this feature"};
};

struct FeatureRecord {
  FeatureRecord() = default;
  FeatureRecord(const FeatureRecord&) = delete;
  FeatureRecord& operator=(const FeatureRecord&) = delete;
  virtual ~FeatureRecord() = default;

  std::array<char, 64> name{"AICORE_SHAPE"};  // shapes of operators at level 0
  FeatureInfo info;
};

}  // namespace
}  // namespace simulator::profiler

using namespace simulator;

aclError aclprofGetSupportedFeatures(size_t* count, void** features) {
  if (count == nullptr || features == nullptr) {
    return Fail(ACL_ERROR_INVALID_PARAM, "aclprofGetSupportedFeatures: no place for the answer");
  }
  static profiler::FeatureRecord shapes;
  *count = 1;
  *features = &shapes;
  return ACL_SUCCESS;
}

aclError aclprofGetSupportedFeaturesV2(size_t* count, void** features) {
  return aclprofGetSupportedFeatures(count, features);
}
