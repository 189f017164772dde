#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <utility>

#include "failure.h"
#include "probe.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace {

// The exceptions are Python classes, so that they are typed and can be caught without this module.
template <typename... Arguments>
void Raise(const char* name, Arguments&&... arguments) {
  const nb::object type = nb::module_::import_("ascendenv_device_probe.errors").attr(name);
  const nb::object value = type(std::forward<Arguments>(arguments)...);
  PyErr_SetObject(type.ptr(), value.ptr());
}

void Translate(const std::exception_ptr& exception, void*) {
  try {
    std::rethrow_exception(exception);
  } catch (const probe::DeviceFailure& failure) {
    Raise("DeviceError", failure.code(), failure.call(), failure.what());
  } catch (const probe::Mismatch& mismatch) {
    Raise("DataMismatchError", mismatch.what());
  }
}

std::pair<size_t, size_t> MemoryInfoPair(int device) {
  const probe::MemoryInfo info = probe::GetMemoryInfo(device);
  return {info.free, info.total};
}

}  // namespace

NB_MODULE(_probe, module) {
  using Unlocked = nb::call_guard<nb::gil_scoped_release>;
  nb::register_exception_translator(Translate);
  module.def("device_count", &probe::DeviceCount, Unlocked());
  module.def("soc_name", &probe::SocName, Unlocked());
  module.def("cann_version", &probe::CannVersion, Unlocked());
  module.def("memory_info", &MemoryInfoPair, "device"_a, Unlocked());
  module.def("allocate", &probe::Allocate, "device"_a, "nbytes"_a, Unlocked());
  module.def("copy_round_trip", &probe::CopyRoundTrip, "device"_a, "nbytes"_a, "seed"_a, Unlocked());
  module.def("stream_event_order", &probe::StreamEventOrder, "device"_a, "nbytes"_a, Unlocked());
  module.def("all_reduce", &probe::AllReduce, "devices"_a, "elements"_a, Unlocked());
}
