// Handles of the older aclop interface keep what they are given.
#include "tensor/legacy.h"

#include "check.h"

namespace {

void AttributesKeepTheirTypes() {
  aclopAttr* attr = aclopCreateAttr();
  const int64_t numbers[] = {3, 1, 2};
  const int64_t* lists[] = {numbers, numbers + 1};
  const int counts[] = {1, 2};
  CHECK(aclopSetAttrBool(attr, "flag", 1) == ACL_SUCCESS);
  CHECK(aclopSetAttrInt(attr, "number", 7) == ACL_SUCCESS);
  CHECK(aclopSetAttrString(attr, "text", "SAME") == ACL_SUCCESS);
  CHECK(aclopSetAttrListInt(attr, "list", 3, numbers) == ACL_SUCCESS);
  CHECK(aclopSetAttrListListInt(attr, "lists", 2, counts, lists) == ACL_SUCCESS);
  CHECK(std::get<bool>(attr->values.at("flag")));
  CHECK(std::get<int64_t>(attr->values.at("number")) == 7);
  CHECK(std::get<std::string>(attr->values.at("text")) == "SAME");
  CHECK(std::get<std::vector<int64_t>>(attr->values.at("list")) == std::vector<int64_t>({3, 1, 2}));
  const std::vector<std::vector<int64_t>> expected = {{3}, {1, 2}};
  CHECK(std::get<std::vector<std::vector<int64_t>>>(attr->values.at("lists")) == expected);
  aclopDestroyAttr(attr);
}

void AttributesWithoutANameOrValuesAreRefused() {
  aclopAttr* attr = aclopCreateAttr();
  CHECK(aclopSetAttrInt(attr, nullptr, 1) == ACL_ERROR_INVALID_PARAM);
  CHECK(aclopSetAttrInt(nullptr, "number", 1) == ACL_ERROR_INVALID_PARAM);
  CHECK(aclopSetAttrListInt(attr, "list", 2, nullptr) == ACL_ERROR_INVALID_PARAM);
  CHECK(attr->values.empty());
  aclopDestroyAttr(attr);
}

void TheShapeOfAPrivateFormatIsKeptBesideTheShape() {
  const int64_t dims[] = {4, 5};
  const int64_t stored[] = {1, 1, 16, 16};
  aclTensorDesc* desc = aclCreateTensorDesc(ACL_FLOAT, 2, dims, ACL_FORMAT_ND);
  CHECK(aclSetTensorShape(desc, 4, stored) == ACL_SUCCESS);
  CHECK(aclGetTensorDescNumDims(desc) == 2);
  CHECK(desc->storageDims.size() == 4);
  aclDestroyTensorDesc(desc);
}

}  // namespace

int main() {
  AttributesKeepTheirTypes();
  AttributesWithoutANameOrValuesAreRefused();
  TheShapeOfAPrivateFormatIsKeptBesideTheShape();
  return checks::Result();
}
