#include <utility>

#include "runtime/error.h"
#include "tensor/legacy.h"

namespace {

aclError Set(aclopAttr* attr, const char* name, simulator::LegacyAttribute value) {
  if (attr == nullptr || name == nullptr) {
    return simulator::Fail(ACL_ERROR_INVALID_PARAM, "aclopSetAttr: no attributes or no name");
  }
  attr->values.insert_or_assign(name, std::move(value));
  return ACL_SUCCESS;
}

template <typename Value>
aclError SetList(aclopAttr* attr, const char* name, int count, const Value* values) {
  if (count < 0 || (count > 0 && values == nullptr)) {
    return simulator::Fail(ACL_ERROR_INVALID_PARAM, "aclopSetAttrList: no values");
  }
  return Set(attr, name, std::vector<Value>(values, values + count));
}

}  // namespace

aclopAttr* aclopCreateAttr() { return new aclopAttr; }

void aclopDestroyAttr(const aclopAttr* attr) { delete attr; }

aclError aclopSetAttrBool(aclopAttr* attr, const char* name, uint8_t value) {
  return Set(attr, name, value != 0);
}

aclError aclopSetAttrInt(aclopAttr* attr, const char* name, int64_t value) { return Set(attr, name, value); }

aclError aclopSetAttrFloat(aclopAttr* attr, const char* name, float value) { return Set(attr, name, value); }

aclError aclopSetAttrString(aclopAttr* attr, const char* name, const char* value) {
  if (value == nullptr) return simulator::Fail(ACL_ERROR_INVALID_PARAM, "aclopSetAttrString: value is null");
  return Set(attr, name, std::string(value));
}

aclError aclopSetAttrDataType(aclopAttr* attr, const char* name, aclDataType value) {
  return Set(attr, name, value);
}

aclError aclopSetAttrListBool(aclopAttr* attr, const char* name, int count, const uint8_t* values) {
  return SetList(attr, name, count, values);
}

aclError aclopSetAttrListInt(aclopAttr* attr, const char* name, int count, const int64_t* values) {
  return SetList(attr, name, count, values);
}

aclError aclopSetAttrListFloat(aclopAttr* attr, const char* name, int count, const float* values) {
  return SetList(attr, name, count, values);
}

aclError aclopSetAttrListListInt(aclopAttr* attr, const char* name, int lists, const int* counts,
                                 const int64_t* const values[]) {
  if (lists < 0 || (lists > 0 && (counts == nullptr || values == nullptr))) {
    return simulator::Fail(ACL_ERROR_INVALID_PARAM, "aclopSetAttrListListInt: no values");
  }
  std::vector<std::vector<int64_t>> all;
  all.reserve(lists);
  for (int i = 0; i < lists; ++i) all.emplace_back(values[i], values[i] + counts[i]);
  return Set(attr, name, std::move(all));
}
