#pragma once

#include <memory>
#include <string>

#include "profiler/recorder.h"
#include "profiler/settings.h"

// The profiling of this process: initialised with a directory, then started and stopped, each time with a
// directory of its own in that one.
namespace simulator::profiler {

aclError Initialize(const std::string& directory);
aclError Finalize();
aclError Start(const Settings& settings);
aclError Stop();
bool Initialized();

std::shared_ptr<Recorder> TheRecorder();  // nullptr while nothing is profiled

}  // namespace simulator::profiler
