# From CANN 8.5 on: cann-<version>/ is complete in itself; cann and ascend-toolkit/latest lead to it.

set(HOME cann-${ASCENDENV_CANN_VERSION})
set(PACKAGE_PATH ${HOME})
set(VERSION_DIRECTORY cann)
set(VERSION_RECORDS runtime compiler opp)
foreach(package runtime hccl hcomm bisheng-compiler oam-tools ops-legacy opbase ops_math ops_nn ops_cv ops_transformer)
  list(APPEND VERSION_RECORDS share/info/${package})
endforeach()

# What set_env.sh of these versions sets (scripts/package/runtime/set_env.sh of hicann/runtime).
set(SCRIPT ${HOME}/set_env.sh)
set(HOME_FROM_SCRIPT "")
set(OTHERS [["${_simulator_script%/*}"/cann[/_-]*]])
set(PROGRAMS "bin tools/ccec_compiler/bin tools/profiler/bin tools/ascend_system_advisor/asys tools/show_kernel_debug_data tools/msobjdump")
set(LIBRARIES "lib64 lib64/plugin/opskernel lib64/plugin/nnengine opp/built-in/op_impl/ai_core/tbe/op_tiling/lib/linux/${ARCH}")
if(ASCENDENV_CANN_VERSION VERSION_LESS 8.5.1)
  string(APPEND LIBRARIES " tools/aml/lib64 tools/aml/lib64/plugin")
endif()
set(STUBS devlib)
set(CMAKE_PACKAGES "_simulator_prepend CMAKE_PREFIX_PATH lib64/cmake toolkit/tools/tikicpulib/lib/cmake\n")

function(finish_layout root)
  file(CREATE_LINK ${HOME} ${root}/cann SYMBOLIC)
  file(MAKE_DIRECTORY ${root}/ascend-toolkit)
  file(CREATE_LINK ../cann ${root}/ascend-toolkit/latest SYMBOLIC)
  file(WRITE ${root}/ascend-toolkit/set_env.sh
    "# Forwards to the CANN that \"latest\" names.\n"
    "source \"$(dirname \"$(readlink -f \"\${BASH_SOURCE[0]}\")\")/latest/set_env.sh\"\n")
endfunction()
