#include "profiler/recorder.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <sstream>
#include <utility>

#include "runtime/activity_json.h"

namespace simulator::profiler {
namespace {

constexpr uint64_t kRuns = ACL_PROF_TASK_TIME | ACL_PROF_TASK_TIME_L0;
constexpr uint64_t kShapes = ACL_PROF_TASK_TIME | ACL_PROF_AICORE_SHAPE;

std::filesystem::path RunsOf(const std::filesystem::path& directory, int32_t device) {
  return directory / ("device_" + std::to_string(device)) / "data" / "runs.jsonl";
}

// Both clocks at one moment: microseconds since the epoch, and the nanoseconds that everything is recorded
// in.
void WriteMoment(const std::filesystem::path& path, const std::string& which) {
  const auto sinceEpoch = std::chrono::system_clock::now().time_since_epoch();
  const auto microseconds = std::chrono::duration_cast<std::chrono::microseconds>(sinceEpoch).count();
  std::ofstream(path) << R"({"collectionTime)" << which << R"(":")" << microseconds
                      << R"(","clockMonotonicRaw":")" << MonotonicNow() << R"(","process":")" << getpid()
                      << R"(","simulated":"true"})" << '\n';
}

std::string JsonLine(const HostCall& call) {
  std::ostringstream line;
  line << R"({"name":)" << Quoted(call.name) << R"(,"thread":)" << call.thread << R"(,"began":)" << call.began
       << R"(,"ended":)" << call.ended << "}\n";
  return line.str();
}

std::string JsonLine(const Annotation& annotation) {
  std::ostringstream line;
  line << R"({"domain":)" << Quoted(annotation.domain) << R"(,"message":)" << Quoted(annotation.message)
       << R"(,"thread":)" << annotation.thread << R"(,"began":)" << annotation.began << R"(,"ended":)"
       << annotation.ended;
  if (annotation.device >= 0) {
    line << R"(,"device":)" << annotation.device << R"(,"stream":)" << annotation.stream << R"(,"reached":)"
         << annotation.reached << R"(,"left":)" << annotation.left;
  }
  line << "}\n";
  return line.str();
}

}  // namespace

Recorder::Recorder(std::filesystem::path directory, Settings settings)
    : directory_(std::move(directory)), settings_(std::move(settings)) {
  std::filesystem::create_directories(directory_ / "host" / "data");
  for (const int32_t device : settings_.devices) {
    std::filesystem::create_directories(RunsOf(directory_, device).parent_path());
  }
  WriteMoment(directory_ / "host" / "start_info", "Begin");
}

void Recorder::Ran(const ActivityRun& run) {
  if (!settings_.Wants(kRuns) || !Watches(run.device)) return;
  ActivityRun shown = run;
  if (!settings_.Wants(kShapes)) shown.activity.operands = {};
  const std::string line = JsonLine(shown);
  const std::lock_guard<std::mutex> lock(mutex_);
  Append(runs_[run.device], RunsOf(directory_, run.device), line);
}

void Recorder::Called(const HostCall& call) {
  if (!settings_.Wants(ACL_PROF_ACL_API)) return;
  const std::string line = JsonLine(call);
  const std::lock_guard<std::mutex> lock(mutex_);
  Append(calls_, directory_ / "host" / "data" / "calls.jsonl", line);
}

void Recorder::Annotated(const Annotation& annotation) {
  const std::string line = JsonLine(annotation);
  const std::lock_guard<std::mutex> lock(mutex_);
  Append(annotations_, directory_ / "host" / "data" / "annotations.jsonl", line);
}

void Recorder::Close() {
  const std::lock_guard<std::mutex> lock(mutex_);
  calls_.close();
  annotations_.close();
  runs_.clear();
  closed_ = true;
  WriteMoment(directory_ / "host" / "end_info", "End");
}

bool Recorder::Watches(int32_t device) const {
  const auto& devices = settings_.devices;
  return everyDevice_ || std::find(devices.begin(), devices.end(), device) != devices.end();
}

void Recorder::Append(std::ofstream& file, const std::filesystem::path& path, const std::string& line) {
  if (closed_) return;
  if (!file.is_open()) {
    std::filesystem::create_directories(path.parent_path());
    file.open(path);
  }
  file << line;
}

}  // namespace simulator::profiler
