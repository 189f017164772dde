#include <memory>
#include <string>
#include <utility>

#include "acl/acl_rt.h"
#include "runtime/boundary.h"
#include "runtime/capture.h"
#include "runtime/context.h"
#include "runtime/device.h"
#include "runtime/error.h"
#include "runtime/graph.h"
#include "runtime/queue.h"

namespace simulator {
namespace {

// Calls about captures mean a stream that was created.
aclError FindCreated(const char* call, aclrtStream handle, std::shared_ptr<Stream>* stream) {
  if (handle == nullptr) {
    return Fail(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, std::string(call) + ": not on the default stream");
  }
  return FindStream(handle, stream);
}

aclError FindCaptured(const char* call, aclrtStream handle, std::shared_ptr<Stream>* stream,
                      std::shared_ptr<Capture>* capture) {
  if (const aclError error = FindCreated(call, handle, stream)) return error;
  *capture = (*stream)->CapturedBy();
  if (*capture != nullptr) return ACL_SUCCESS;
  return Fail(ACL_ERROR_RT_STREAM_NOT_CAPTURED, std::string(call) + ": the stream captures nothing");
}

bool IsMode(aclmdlRICaptureMode mode) {
  return mode >= ACL_MODEL_RI_CAPTURE_MODE_GLOBAL && mode <= ACL_MODEL_RI_CAPTURE_MODE_RELAXED;
}

aclError Begin(const char* call, aclrtStream handle, aclmdlRI into, aclmdlRICaptureMode mode) {
  std::shared_ptr<Stream> stream;
  std::shared_ptr<Graph> graph;
  if (const aclError error = FindCreated(call, handle, &stream)) return error;
  if (!IsMode(mode)) return Fail(ACL_ERROR_RT_PARAM_INVALID, std::string(call) + ": there is no such mode");
  if (into == nullptr) {
    graph = std::make_shared<Graph>(stream->In());
    AddGraph(graph);
  } else {
    if (const aclError error = FindGraph(into, &graph)) return error;
    if (!graph->Nodes().empty() || CaptureInto(*graph) != nullptr) {
      return Fail(ACL_ERROR_RT_MODEL_CAPTURED, std::string(call) + ": the graph is captured already");
    }
  }
  const aclError error = Capture::Begin(stream, graph, mode);
  if (error != ACL_SUCCESS && into == nullptr) RemoveGraph(*graph);
  return error;
}

}  // namespace
}  // namespace simulator

using namespace simulator;

aclError aclmdlRICaptureBegin(aclrtStream stream, aclmdlRICaptureMode mode) {
  return Guarded("aclmdlRICaptureBegin",
                 [&] { return Begin("aclmdlRICaptureBegin", stream, nullptr, mode); });
}

aclError aclmdlRICaptureToModelRIBegin(aclrtStream stream, aclmdlRI graph, aclmdlRICaptureMode mode) {
  return Guarded("aclmdlRICaptureToModelRIBegin", [&]() -> aclError {
    if (graph == nullptr) return Fail(ACL_ERROR_INVALID_PARAM, "aclmdlRICaptureToModelRIBegin: no graph");
    return Begin("aclmdlRICaptureToModelRIBegin", stream, graph, mode);
  });
}

aclError aclmdlRICaptureGetInfo(aclrtStream handle, aclmdlRICaptureStatus* status, aclmdlRI* graph) {
  return Guarded("aclmdlRICaptureGetInfo", [&]() -> aclError {
    std::shared_ptr<Stream> stream;
    if (status == nullptr && graph == nullptr) {
      return Fail(ACL_ERROR_INVALID_PARAM, "aclmdlRICaptureGetInfo: no result");
    }
    if (const aclError error = FindStream(handle, &stream)) return error;
    const std::shared_ptr<Capture> capture = stream->CapturedBy();
    if (status != nullptr) {
      *status = capture == nullptr ? ACL_MODEL_RI_CAPTURE_STATUS_NONE : capture->Status();
    }
    if (graph != nullptr) *graph = capture == nullptr ? nullptr : capture->Into().get();
    return ACL_SUCCESS;
  });
}

aclError aclmdlRICaptureEnd(aclrtStream handle, aclmdlRI* graph) {
  return Guarded("aclmdlRICaptureEnd", [&]() -> aclError {
    std::shared_ptr<Stream> stream;
    std::shared_ptr<Capture> capture;
    if (const aclError error = FindCaptured("aclmdlRICaptureEnd", handle, &stream, &capture)) return error;
    if (graph == nullptr) return Fail(ACL_ERROR_INVALID_PARAM, "aclmdlRICaptureEnd: no result");
    const aclError error = Capture::End(*stream);
    *graph = error == ACL_SUCCESS ? capture->Into().get() : nullptr;
    if (error != ACL_SUCCESS && stream->CapturedBy() == nullptr) RemoveGraph(*capture->Into());
    return error;
  });
}

aclError aclmdlRICaptureThreadExchangeMode(aclmdlRICaptureMode* mode) {
  if (mode == nullptr || !IsMode(*mode)) {
    return Fail(ACL_ERROR_RT_PARAM_INVALID, "aclmdlRICaptureThreadExchangeMode: there is no such mode");
  }
  *mode = ExchangeCaptureMode(*mode);
  return ACL_SUCCESS;
}

aclError aclmdlRICaptureTaskGrpBegin(aclrtStream handle) {
  return Guarded("aclmdlRICaptureTaskGrpBegin", [&]() -> aclError {
    std::shared_ptr<Stream> stream;
    std::shared_ptr<Capture> capture;
    if (const aclError error = FindCaptured("aclmdlRICaptureTaskGrpBegin", handle, &stream, &capture)) {
      return error;
    }
    return capture->BeginGroup(*stream);
  });
}

aclError aclmdlRICaptureTaskGrpEnd(aclrtStream handle, aclrtTaskGrp* group) {
  return Guarded("aclmdlRICaptureTaskGrpEnd", [&]() -> aclError {
    std::shared_ptr<Stream> stream;
    std::shared_ptr<Capture> capture;
    if (group == nullptr) return Fail(ACL_ERROR_INVALID_PARAM, "aclmdlRICaptureTaskGrpEnd: no result");
    if (const aclError error = FindCaptured("aclmdlRICaptureTaskGrpEnd", handle, &stream, &capture)) {
      return error;
    }
    return capture->EndGroup(*stream, group);
  });
}

aclError aclmdlRICaptureTaskUpdateBegin(aclrtStream handle, aclrtTaskGrp groupHandle) {
  return Guarded("aclmdlRICaptureTaskUpdateBegin", [&]() -> aclError {
    std::shared_ptr<Stream> stream;
    std::shared_ptr<TaskGroup> group;
    if (const aclError error = FindCreated("aclmdlRICaptureTaskUpdateBegin", handle, &stream)) return error;
    if (const aclError error = FindTaskGroup(groupHandle, &group)) return error;
    return stream->BeginUpdate(std::move(group));
  });
}

aclError aclmdlRICaptureTaskUpdateEnd(aclrtStream handle) {
  return Guarded("aclmdlRICaptureTaskUpdateEnd", [&]() -> aclError {
    std::shared_ptr<Stream> stream;
    if (const aclError error = FindCreated("aclmdlRICaptureTaskUpdateEnd", handle, &stream)) return error;
    return stream->EndUpdate();
  });
}
