#include "rank_table.h"

#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>
#include <stdexcept>

#include "failure.h"
#include "json.h"
#include "reports.h"

namespace simulator::hccl {
namespace {

std::string ReadFile(const char* file) {
  Require(file != nullptr, HCCL_E_PTR, "clusterInfo is a null pointer");
  std::ifstream stream(file);
  std::ostringstream content;
  content << stream.rdbuf();
  Require(stream.is_open() && content.tellp() > 0, HCCL_E_PARA,
          UnreadableRankTable(file,
                              "The rankTable file path does not exist, the permission is insufficient, "
                              "or the file is empty."));
  return content.str();
}

Json Parse(const char* file, const std::string& content) {
  try {
    return ParseJson(content);
  } catch (const std::invalid_argument& wrong) {
    Throw(HCCL_E_PARA,
          UnreadableRankTable(file, std::string("The JSON format is incorrect: ") + wrong.what() + "."));
  }
}

const Json& Item(const Json& object, const std::string& name) {
  const Json* item = object.Find(name);
  Require(item != nullptr, HCCL_E_PARA, MissingInRankTable(name));
  return *item;
}

void RequireText(const Json& table, const std::string& name, const std::string& expected) {
  const std::string& text = Item(table, name).text;
  Require(text == expected, HCCL_E_PARA, InvalidInRankTable(text, name, expected));
}

uint32_t Number(const Json& object, const std::string& name) {
  constexpr unsigned long kLargest = 1000000;
  const std::string& text = Item(object, name).text;
  char* end = nullptr;
  const unsigned long number = std::strtoul(text.c_str(), &end, 10);
  const bool valid = !text.empty() && text[0] != '-' && *end == '\0' && number <= kLargest;
  Require(valid, HCCL_E_PARA, InvalidInRankTable(text, name, "a valid integer"));
  return static_cast<uint32_t>(number);
}

const Json& OnlyServer(const Json& table) {
  RequireText(table, "status", "completed");
  const std::vector<Json>& servers = Item(table, "server_list").items;
  const uint32_t count = Number(table, "server_count");
  Require(count == servers.size(), HCCL_E_PARA,
          InvalidInRankTable(std::to_string(count), "server_count", std::to_string(servers.size())));
  Require(count == 1, HCCL_E_NOT_SUPPORT,
          "a rank table of " + std::to_string(count) + " servers: the simulated CANN has one");
  return servers.front();
}

}  // namespace

RankTable ReadRankTable(const char* file) {
  RankTable table{{}, ReadFile(file)};
  const Json json = Parse(file, table.content);
  const std::vector<Json>& devices = Item(OnlyServer(json), "device").items;
  std::map<uint32_t, int32_t> by_rank;
  std::map<uint32_t, uint32_t> by_device;
  for (const Json& device : devices) {
    const uint32_t rank = Number(device, "rank_id");
    const uint32_t id = Number(device, "device_id");
    Require(by_device.emplace(id, rank).second, HCCL_E_PARA,
            InvalidInRankTable(std::to_string(id), "device_id", "unique"));
    Require(rank < devices.size() && by_rank.emplace(rank, static_cast<int32_t>(id)).second, HCCL_E_PARA,
            InvalidInRankTable(std::to_string(rank), "rank_id",
                               "unique and less than " + std::to_string(devices.size())));
  }
  Require(!by_rank.empty(), HCCL_E_PARA, InvalidInRankTable("[]", "device", "at least one device"));
  for (const auto& [rank, device] : by_rank) table.devices.push_back(device);
  return table;
}

}  // namespace simulator::hccl
