#include "support.h"

#include <array>
#include <functional>

#include "element.h"

namespace simulator::hccl {
namespace {

constexpr std::array kAllTypes{
    HCCL_DATA_TYPE_INT8,   HCCL_DATA_TYPE_INT16,   HCCL_DATA_TYPE_INT32,   HCCL_DATA_TYPE_INT64,
    HCCL_DATA_TYPE_UINT8,  HCCL_DATA_TYPE_UINT16,  HCCL_DATA_TYPE_UINT32,  HCCL_DATA_TYPE_UINT64,
    HCCL_DATA_TYPE_FP16,   HCCL_DATA_TYPE_BFP16,   HCCL_DATA_TYPE_FP32,    HCCL_DATA_TYPE_FP64,
    HCCL_DATA_TYPE_INT128, HCCL_DATA_TYPE_FP8E4M3, HCCL_DATA_TYPE_FP8E5M2, HCCL_DATA_TYPE_FP8E8M0,
    HCCL_DATA_TYPE_HIF8,
};

std::string List(const std::function<bool(HcclDataType)>& holds) {
  std::string text;
  for (const HcclDataType type : kAllTypes) {
    if (holds(type)) text += (text.empty() ? "" : ", ") + std::string(Name(type));
  }
  return text;
}

}  // namespace

bool CanMove(Chip chip, HcclDataType type) {
  switch (type) {
    case HCCL_DATA_TYPE_HIF8:
    case HCCL_DATA_TYPE_FP8E8M0:
      return chip == Chip::k950;
    case HCCL_DATA_TYPE_INT128:
      return false;
    default:
      return ElementSize(type) > 0;
  }
}

bool CanReduce(Chip chip, HcclDataType type, HcclReduceOp operation) {
  const bool product = operation == HCCL_REDUCE_PROD;
  switch (type) {
    case HCCL_DATA_TYPE_INT8:
    case HCCL_DATA_TYPE_INT32:
    case HCCL_DATA_TYPE_FP16:
    case HCCL_DATA_TYPE_FP32:
      return true;
    case HCCL_DATA_TYPE_INT64:
      return chip != Chip::k310P;
    case HCCL_DATA_TYPE_INT16:
    case HCCL_DATA_TYPE_BFP16:
      if (chip == Chip::k910) return false;
      if (chip == Chip::k310P) return type == HCCL_DATA_TYPE_INT16 && operation == HCCL_REDUCE_SUM;
      return !product;
    case HCCL_DATA_TYPE_UINT64:
    case HCCL_DATA_TYPE_FP64:
      return chip == Chip::k950;
    default:
      return false;
  }
}

std::string Movable(Chip chip) {
  return List([chip](HcclDataType type) { return CanMove(chip, type); });
}

std::string Reducible(Chip chip, HcclReduceOp operation) {
  return List([=](HcclDataType type) { return CanReduce(chip, type, operation); });
}

}  // namespace simulator::hccl
