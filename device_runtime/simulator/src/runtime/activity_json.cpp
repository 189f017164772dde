#include "runtime/activity_json.h"

#include <unistd.h>

#include <iomanip>
#include <sstream>

namespace simulator {
namespace {

void AppendDims(std::ostream& line, const std::vector<int64_t>& dims) {
  const char* separator = "";
  line << '[';
  for (const int64_t dim : dims) line << std::exchange(separator, ",") << dim;
  line << ']';
}

void AppendOperands(std::ostream& line, const std::vector<Operand>& operands) {
  const char* separator = "";
  line << '[';
  for (const Operand& operand : operands) {
    line << std::exchange(separator, ",") << R"({"dtype":)" << operand.dtype << R"(,"format":)"
         << operand.format << R"(,"shape":)";
    AppendDims(line, operand.dims);
    line << '}';
  }
  line << ']';
}

}  // namespace

std::string Quoted(const std::string& text) {
  std::ostringstream quoted;
  quoted << '"' << std::hex << std::setfill('0');
  for (const char each : text) {
    const auto code = static_cast<unsigned char>(each);
    if (each == '"' || each == '\\')
      quoted << '\\' << each;
    else if (code < 0x20)
      quoted << "\\u" << std::setw(4) << int{code};
    else
      quoted << each;
  }
  quoted << '"';
  return quoted.str();
}

std::string JsonLine(const ActivityRun& run) {
  const Activity& activity = run.activity;
  std::ostringstream line;
  line << R"({"kind":")" << NameOf(activity.kind) << R"(","name":)" << Quoted(activity.name)
       << R"(,"process":)" << getpid() << R"(,"thread":)" << run.thread << R"(,"device":)" << run.device
       << R"(,"stream":)" << run.stream << R"(,"queued":)" << run.queued << R"(,"began":)" << run.began
       << R"(,"ended":)" << run.ended << R"(,"result":)" << run.result;
  if (activity.bytes > 0) line << R"(,"bytes":)" << activity.bytes;
  if (!activity.group.empty()) line << R"(,"group":)" << Quoted(activity.group);
  if (activity.kind == ActivityKind::kOperator) {
    line << R"(,"inputs":)";
    AppendOperands(line, activity.operands.inputs);
    line << R"(,"outputs":)";
    AppendOperands(line, activity.operands.outputs);
  }
  line << "}\n";
  return line.str();
}

}  // namespace simulator
