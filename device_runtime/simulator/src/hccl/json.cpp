#include "json.h"

#include <cctype>
#include <cstdlib>
#include <stdexcept>

namespace simulator::hccl {
namespace {

constexpr int kDeepest = 64;

class Parser {
 public:
  explicit Parser(const std::string& text) : text_(text) {}

  Json Whole() {
    Json value = Value(0);
    if (Next() != '\0') Fail("the end");
    return value;
  }

 private:
  [[noreturn]] void Fail(const std::string& expected) const {
    throw std::invalid_argument("character " + std::to_string(at_) + ": expected " + expected);
  }

  // The next character that is no space, or zero at the end.
  char Next() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_])) != 0) ++at_;
    return at_ < text_.size() ? text_[at_] : '\0';
  }

  bool Take(char wanted) {
    if (Next() != wanted) return false;
    ++at_;
    return true;
  }

  void Expect(char wanted) {
    if (!Take(wanted)) Fail(std::string("'") + wanted + "'");
  }

  Json Value(int depth) {
    if (depth > kDeepest) Fail("fewer levels");
    switch (Next()) {
      case '{':
        return Object(depth);
      case '[':
        return List(depth);
      case '"':
        return Text(String());
      default:
        return Text(Word());
    }
  }

  static Json Text(std::string text) {
    Json value;
    value.text = std::move(text);
    return value;
  }

  Json Object(int depth) {
    Json value;
    value.kind = Json::Kind::kObject;
    Expect('{');
    if (Take('}')) return value;
    do {
      Next();
      std::string name = String();
      Expect(':');
      value.members.emplace_back(std::move(name), Value(depth + 1));
    } while (Take(','));
    Expect('}');
    return value;
  }

  Json List(int depth) {
    Json value;
    value.kind = Json::Kind::kList;
    Expect('[');
    if (Take(']')) return value;
    do {
      value.items.push_back(Value(depth + 1));
    } while (Take(','));
    Expect(']');
    return value;
  }

  std::string String() {
    if (at_ >= text_.size() || text_[at_] != '"') Fail("a string");
    std::string value;
    for (++at_; at_ < text_.size() && text_[at_] != '"'; ++at_) {
      value += text_[at_] == '\\' ? Escaped() : text_[at_];
    }
    if (at_ >= text_.size()) Fail("the end of a string");
    ++at_;
    return value;
  }

  // What is read here are names and numbers: of the escapes by code, those of ASCII are enough.
  char Escaped() {
    if (++at_ >= text_.size()) Fail("an escaped character");
    switch (text_[at_]) {
      case 'n':
        return '\n';
      case 't':
        return '\t';
      case 'r':
        return '\r';
      case 'b':
        return '\b';
      case 'f':
        return '\f';
      case 'u':
        return ByCode();
      default:
        return text_[at_];
    }
  }

  char ByCode() {
    const std::string digits = text_.substr(at_ + 1, 4);
    char* end = nullptr;
    const unsigned long code = std::strtoul(digits.c_str(), &end, 16);
    if (digits.size() != 4 || *end != '\0' || code > 0x7F) Fail("the code of an ASCII character");
    at_ += 4;
    return static_cast<char>(code);
  }

  std::string Word() {
    const size_t begin = at_;
    while (at_ < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[at_])) != 0 ||
                                  text_[at_] == '-' || text_[at_] == '+' || text_[at_] == '.')) {
      ++at_;
    }
    if (at_ == begin) Fail("a value");
    return text_.substr(begin, at_ - begin);
  }

  const std::string& text_;
  size_t at_ = 0;
};

}  // namespace

const Json* Json::Find(const std::string& name) const {
  for (const auto& [key, value] : members) {
    if (key == name) return &value;
  }
  return nullptr;
}

Json ParseJson(const std::string& text) { return Parser(text).Whole(); }

}  // namespace simulator::hccl
