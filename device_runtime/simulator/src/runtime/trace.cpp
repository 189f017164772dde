#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "runtime/activity.h"
#include "runtime/activity_json.h"

namespace simulator {
namespace {

void Complain() { std::perror("[simulated CANN] ASCENDENV_SIM_TRACE"); }

// One line a run, each written at once, so that processes may share the file.
class TraceFile : public ActivityListener {
 public:
  explicit TraceFile(int file) : file_(file) {}

  void Ran(const ActivityRun& run) override {
    const std::string line = JsonLine(run);
    if (write(file_, line.data(), line.size()) < 0) Complain();
  }

 private:
  const int file_;  // open until the process ends
};

// As the library is loaded, so that nothing runs unseen.
__attribute__((constructor)) void TraceIfAsked() {
  const char* path = std::getenv("ASCENDENV_SIM_TRACE");
  if (path == nullptr || *path == '\0') return;
  const int file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (file < 0) return Complain();
  Listen(std::make_shared<TraceFile>(file));
}

}  // namespace
}  // namespace simulator
