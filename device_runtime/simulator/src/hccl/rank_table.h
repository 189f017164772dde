#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace simulator::hccl {

// What a rank table says: the physical device of each rank. All ranks are on one machine, since there is but
// one here; a table of several servers is refused.
struct RankTable {
  std::vector<int32_t> devices;
  std::string content;
};

// Throws the errors of HCCL for a file that cannot be read (EI0004), lacks an item (EI0017) or has a wrong
// one (EI0014).
RankTable ReadRankTable(const char* file);

}  // namespace simulator::hccl
