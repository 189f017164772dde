#pragma once

#include <atomic>
#include <filesystem>
#include <fstream>
#include <map>
#include <mutex>

#include "profiler/annotation.h"
#include "profiler/settings.h"
#include "runtime/activity.h"

namespace simulator::profiler {

// Writes what it hears into a directory laid out as CANN's, in lines of JSON that our msprof reads:
//   host/start_info, host/end_info    when profiling began and ended, on two clocks
//   host/data/calls.jsonl             calls of the interface
//   host/data/annotations.jsonl       marks and ranges of the program
//   device_<physical id>/data/runs.jsonl
class Recorder : public ActivityListener {
 public:
  Recorder(std::filesystem::path directory, Settings settings);

  void Ran(const ActivityRun& run) override;
  void Called(const HostCall& call) override;
  void Annotated(const Annotation& annotation);

  bool WantsAnnotations() const { return settings_.Wants(ACL_PROF_MSPROFTX); }
  void WatchEveryDevice() { everyDevice_ = true; }
  void Close();  // what comes later is not recorded

 private:
  bool Watches(int32_t device) const;
  void Append(std::ofstream& file, const std::filesystem::path& path, const std::string& line);

  const std::filesystem::path directory_;
  const Settings settings_;
  std::atomic<bool> everyDevice_{false};
  std::mutex mutex_;
  std::ofstream calls_;
  std::ofstream annotations_;
  bool closed_ = false;
  std::map<int32_t, std::ofstream> runs_;  // by physical device
};

}  // namespace simulator::profiler
