#pragma once

#include <string>
#include <utility>
#include <vector>

namespace simulator::hccl {

// A value of a JSON text. Numbers and the names true, false and null are kept as they are written, like
// strings.
struct Json {
  enum class Kind { kText, kList, kObject };

  Kind kind = Kind::kText;
  std::string text;
  std::vector<Json> items;
  std::vector<std::pair<std::string, Json>> members;

  const Json* Find(const std::string& name) const;
};

// Throws std::invalid_argument that says where the text is wrong.
Json ParseJson(const std::string& text);

}  // namespace simulator::hccl
