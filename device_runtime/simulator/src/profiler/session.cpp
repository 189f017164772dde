#include "profiler/session.h"

#include <array>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <mutex>
#include <optional>
#include <random>
#include <system_error>

#include "runtime/error.h"

namespace simulator::profiler {
namespace {

struct Session {
  std::mutex mutex;
  std::optional<std::filesystem::path> directory;  // once initialised
  std::shared_ptr<Recorder> recorder;              // while started
  int started = 0;
};

// Never destroyed: what is profiled may still run while the process exits.
Session& TheSession() {
  static auto* session = new Session;
  return *session;
}

std::string LocalTime() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  const auto milliseconds = std::chrono::duration_cast<std::chrono::milliseconds>(now).count();
  const std::time_t seconds = milliseconds / 1000;
  std::tm local{};
  localtime_r(&seconds, &local);
  std::array<char, 32> text{};
  std::strftime(text.data(), text.size(), "%Y%m%d%H%M%S", &local);
  std::array<char, 8> fraction{};
  std::snprintf(fraction.data(), fraction.size(), "%03d", static_cast<int>(milliseconds % 1000));
  return std::string(text.data()) + fraction.data();
}

std::string RandomLetters(size_t count) {
  std::random_device device;
  std::uniform_int_distribution<int> letter('A', 'R');
  std::string letters(count, 'A');
  for (char& each : letters) each = static_cast<char>(letter(device));
  return letters;
}

// As CANN names it: PROF_<number of the start>_<local time>_<random letters>.
std::string DirectoryName(int number) {
  std::array<char, 16> digits{};
  std::snprintf(digits.data(), digits.size(), "%06d", number);
  return std::string("PROF_") + digits.data() + "_" + LocalTime() + "_" + RandomLetters(8);
}

}  // namespace

aclError Initialize(const std::string& directory) {
  Session& session = TheSession();
  const std::lock_guard<std::mutex> lock(session.mutex);
  if (session.directory) return Fail(ACL_ERROR_REPEAT_INITIALIZE, "aclprofInit was already called");
  std::error_code problem;
  std::filesystem::create_directories(directory, problem);
  if (problem) {
    return Fail(ACL_ERROR_INVALID_FILE, "aclprofInit: " + directory + ": " + problem.message());
  }
  session.directory = directory;
  session.started = 0;
  return ACL_SUCCESS;
}

aclError Finalize() {
  Session& session = TheSession();
  const std::lock_guard<std::mutex> lock(session.mutex);
  if (session.recorder != nullptr) {
    return Fail(ACL_ERROR_PROF_ALREADY_RUN, "aclprofFinalize: profiling was not stopped");
  }
  if (!session.directory) return Fail(ACL_ERROR_PROF_NOT_RUN, "aclprofFinalize without aclprofInit");
  session.directory.reset();
  return ACL_SUCCESS;
}

aclError Start(const Settings& settings) {
  Session& session = TheSession();
  const std::lock_guard<std::mutex> lock(session.mutex);
  if (!session.directory) return Fail(ACL_ERROR_PROF_NOT_RUN, "aclprofStart without aclprofInit");
  if (session.recorder != nullptr) return Fail(ACL_ERROR_PROF_ALREADY_RUN, "profiling was already started");
  try {
    const auto directory = *session.directory / DirectoryName(++session.started);
    session.recorder = std::make_shared<Recorder>(directory, settings);
  } catch (const std::filesystem::filesystem_error& error) {
    return Fail(ACL_ERROR_PROFILING_FAILURE, std::string("aclprofStart: ") + error.what());
  }
  Listen(session.recorder);
  return ACL_SUCCESS;
}

aclError Stop() {
  Session& session = TheSession();
  const std::lock_guard<std::mutex> lock(session.mutex);
  if (session.recorder == nullptr) return Fail(ACL_ERROR_PROF_NOT_RUN, "profiling was not started");
  StopListening(*session.recorder);
  session.recorder->Close();
  session.recorder.reset();
  return ACL_SUCCESS;
}

bool Initialized() {
  Session& session = TheSession();
  const std::lock_guard<std::mutex> lock(session.mutex);
  return session.directory.has_value();
}

std::shared_ptr<Recorder> TheRecorder() {
  Session& session = TheSession();
  const std::lock_guard<std::mutex> lock(session.mutex);
  return session.recorder;
}

}  // namespace simulator::profiler
