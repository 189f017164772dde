# Makes the tree of a simulated CANN out of what was built, in the layout of the version that it stands in for:
#   cmake -DBUILT=<what was built> -DHEADERS=<the include directory> -DROOT=<where to> -DARCH=x86_64
#         -DASCENDENV_CANN_VERSION=9.1.0 -DASCENDENV_SOC=... -DASCENDENV_DEVICES=8 ... -P tree.cmake
# PLACE is where the tree will be in the end, when it is not where it is made. Nothing else in it is absolute, and
# nothing is compiled, so one build serves every version, SoC and number of devices.
cmake_minimum_required(VERSION 3.18)

foreach(required BUILT HEADERS ROOT ARCH ASCENDENV_CANN_VERSION ASCENDENV_SOC ASCENDENV_DEVICES ASCENDENV_MEMORY
        ASCENDENV_CUBE_CORES ASCENDENV_VECTOR_CORES ASCENDENV_CACHE)
  if("${${required}}" STREQUAL "")
    message(FATAL_ERROR "${required} is not set: pass -D${required}=...")
  endif()
endforeach()
if(NOT PLACE)
  set(PLACE ${ROOT})
endif()

set(TEMPLATES ${CMAKE_CURRENT_LIST_DIR})
include(${TEMPLATES}/record.cmake)
if(ASCENDENV_CANN_VERSION VERSION_LESS 8.5)
  include(${TEMPLATES}/layout_ascend_toolkit.cmake)
else()
  include(${TEMPLATES}/layout_cann.cmake)
endif()
set(home ${ROOT}/${HOME})

file(COPY ${BUILT}/ DESTINATION ${home})
file(COPY ${HEADERS}/ DESTINATION ${home}/include)
file(MAKE_DIRECTORY ${home}/toolkit ${home}/tools ${home}/devlib ${home}/python/site-packages
     ${home}/opp/built-in/op_impl/ai_core/tbe)

write_record(${home})
foreach(record IN LISTS VERSION_RECORDS)
  file(WRITE ${home}/${record}/version.info
    "Version=${ASCENDENV_CANN_VERSION}\nversion_dir=${VERSION_DIRECTORY}\nsimulated=true\n")
endforeach()
foreach(package toolkit ops)
  file(WRITE ${home}/${ARCH}-linux/ascend_${package}_install.info
    "package_name=Ascend-cann-${package}\n"
    "version=${ASCENDENV_CANN_VERSION}\n"
    "innerversion=simulated\n"
    "arch=${ARCH}\n"
    "path=${PLACE}/${PACKAGE_PATH}\n")
endforeach()

configure_file(${TEMPLATES}/set_env.sh.in ${ROOT}/${SCRIPT} @ONLY)
finish_layout(${ROOT})
