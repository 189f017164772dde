#include "runtime/tree.h"

#include <dlfcn.h>

#include <filesystem>
#include <fstream>
#include <system_error>

namespace simulator {
namespace {

std::string FindHome() {
  Dl_info library{};
  if (dladdr(reinterpret_cast<const void*>(&FindHome), &library) == 0) return {};
  std::error_code error;
  const auto path = std::filesystem::canonical(library.dli_fname, error);
  return error ? std::string{} : path.parent_path().parent_path().string();
}

}  // namespace

const std::string& TreeHome() {
  static const auto* home = new std::string(FindHome());
  return *home;
}

std::map<std::string, std::string> ReadTreeFile(const std::string& name) {
  std::ifstream file(TreeHome() + "/" + name);
  std::map<std::string, std::string> values;
  for (std::string line; std::getline(file, line);) {
    const size_t separator = line.find('=');
    if (separator != std::string::npos) values.emplace(line.substr(0, separator), line.substr(separator + 1));
  }
  return values;
}

}  // namespace simulator
