#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <map>
#include <memory>
#include <string>

#include "acl/acl_rt.h"
#include "runtime/boundary.h"
#include "runtime/capture.h"
#include "runtime/error.h"
#include "runtime/graph.h"
#include "runtime/queue.h"

namespace simulator {
namespace {

aclError FindComplete(aclmdlRI handle, std::shared_ptr<Graph>* graph) {
  if (const aclError error = FindGraph(handle, graph)) return error;
  if (CaptureInto(**graph) == nullptr) return ACL_SUCCESS;
  return Fail(ACL_ERROR_RT_MODEL_EXECUTE, "the graph is still being captured");
}

// A trace for chrome://tracing, as CANN writes it: the nodes of each stream one after the other.
void WriteTrace(std::ostream& out, const Graph& graph) {
  std::map<int32_t, uint64_t> ends;
  const char* separator = "[\n";
  uint64_t number = 0;
  for (const Graph::Node& node : graph.Nodes()) {
    uint64_t& end = ends[node.stream];
    out << separator << R"({"name":")" << node.name << R"(","pid":")" << getpid()
        << R"( aclGraph [simulated CANN]")"
        << R"(,"tid":"stream)" << node.stream << R"(","ts":)" << end
        << R"(,"dur":1,"ph":"X","args":{"Model Id":)" << graph.Id() << R"(,"Stream Id":)" << node.stream
        << R"(,"Task Id":)" << number++ << R"(,"Task Type":")" << node.type << R"("}})";
    end += 2;
    separator = ",\n";
  }
  out << (number == 0 ? "[]\n" : "\n]\n");
}

}  // namespace
}  // namespace simulator

using namespace simulator;

aclError aclmdlRIExecuteAsync(aclmdlRI handle, aclrtStream streamHandle) {
  return Guarded("aclmdlRIExecuteAsync", [&]() -> aclError {
    std::shared_ptr<Graph> graph;
    std::shared_ptr<Stream> stream;
    if (const aclError error = FindComplete(handle, &graph)) return error;
    if (const aclError error = FindStream(streamHandle, &stream)) return error;
    if (stream->CapturedBy() != nullptr) {
      return Fail(ACL_ERROR_RT_STREAM_CAPTURED, "aclmdlRIExecuteAsync: a graph cannot be part of another");
    }
    return stream->Append([graph = std::move(graph)] { return graph->Run(); });
  });
}

aclError aclmdlRIExecute(aclmdlRI graph, int32_t milliseconds) {
  if (const aclError error = aclmdlRIExecuteAsync(graph, nullptr)) return error;
  return aclrtSynchronizeStreamWithTimeout(nullptr, milliseconds);
}

aclError aclmdlRIDestroy(aclmdlRI handle) {
  return Guarded("aclmdlRIDestroy", [&]() -> aclError {
    std::shared_ptr<Graph> graph;
    if (const aclError error = FindComplete(handle, &graph)) return error;
    RemoveGraph(*graph);
    return ACL_SUCCESS;
  });
}

aclError aclmdlRIGetId(aclmdlRI handle, uint32_t* id) {
  return Guarded("aclmdlRIGetId", [&]() -> aclError {
    std::shared_ptr<Graph> graph;
    if (id == nullptr) return Fail(ACL_ERROR_INVALID_PARAM, "aclmdlRIGetId: no result");
    if (const aclError error = FindGraph(handle, &graph)) return error;
    *id = graph->Id();
    return ACL_SUCCESS;
  });
}

aclError aclmdlRIDebugPrint(aclmdlRI handle) {
  return Guarded("aclmdlRIDebugPrint", [&]() -> aclError {
    std::shared_ptr<Graph> graph;
    if (const aclError error = FindComplete(handle, &graph)) return error;
    for (const Graph::Node& node : graph->Nodes()) {
      aclAppLog(ACL_INFO, "aclmdlRIDebugPrint", __FILE__, __LINE__,
                "model_id=%u, stream_id=%d, task_type=%s, name=%s", graph->Id(), node.stream,
                node.type.c_str(), node.name.c_str());
    }
    return ACL_SUCCESS;
  });
}

aclError aclmdlRIDebugJsonPrint(aclmdlRI handle, const char* path, uint32_t) {
  return Guarded("aclmdlRIDebugJsonPrint", [&]() -> aclError {
    std::shared_ptr<Graph> graph;
    if (path == nullptr) return Fail(ACL_ERROR_RT_PARAM_INVALID, "aclmdlRIDebugJsonPrint: no path");
    if (const aclError error = FindComplete(handle, &graph)) return error;
    std::ofstream file(path);
    WriteTrace(file, *graph);
    file.close();
    if (file) return ACL_SUCCESS;
    return Fail(ACL_ERROR_RT_PARAM_INVALID, std::string("aclmdlRIDebugJsonPrint: cannot write ") + path);
  });
}
