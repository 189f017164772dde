# Finds AscendCL and HCCL in a CANN install tree and says exactly what is missing and where it was looked for.
#
#   ASCEND_HOME_PATH   CMake variable or environment variable: the toolkit's root
#   CANN_INCLUDE_DIRS  headers elsewhere (a list), instead of those in the tree
#
# Gives the targets Cann::ascendcl and Cann::hccl.

if(NOT ASCEND_HOME_PATH)
  set(ASCEND_HOME_PATH "$ENV{ASCEND_HOME_PATH}")
endif()
if(NOT ASCEND_HOME_PATH)
  message(FATAL_ERROR
    "ASCEND_HOME_PATH is not set, so there is no CANN to build against.\n"
    "Run `source <CANN>/set_env.sh` first, or pass -DASCEND_HOME_PATH=<CANN>.")
endif()
if(NOT IS_DIRECTORY "${ASCEND_HOME_PATH}")
  message(FATAL_ERROR "ASCEND_HOME_PATH is ${ASCEND_HOME_PATH}, which is not a directory.")
endif()

set(_cann_arch_root "${ASCEND_HOME_PATH}/${CMAKE_SYSTEM_PROCESSOR}-linux")
if(NOT CANN_INCLUDE_DIRS)
  set(CANN_INCLUDE_DIRS "${ASCEND_HOME_PATH}/include" "${_cann_arch_root}/include")
endif()
set(_cann_library_dirs "${ASCEND_HOME_PATH}/lib64" "${_cann_arch_root}/lib64")

set(_cann_missing "")
foreach(_header IN ITEMS acl/acl.h hccl/hccl.h)
  find_path(_cann_found NAMES ${_header} PATHS ${CANN_INCLUDE_DIRS} NO_DEFAULT_PATH NO_CACHE)
  if(_cann_found)
    list(APPEND _cann_include_dirs ${_cann_found})
  else()
    list(JOIN CANN_INCLUDE_DIRS ", " _looked)
    string(APPEND _cann_missing "  header ${_header}, looked for in ${_looked}\n")
  endif()
  unset(_cann_found)
endforeach()

foreach(_library IN ITEMS ascendcl hccl)
  find_library(_cann_found NAMES ${_library} PATHS ${_cann_library_dirs} NO_DEFAULT_PATH NO_CACHE)
  if(_cann_found)
    set(_cann_${_library} ${_cann_found})
  else()
    list(JOIN _cann_library_dirs ", " _looked)
    string(APPEND _cann_missing "  library lib${_library}.so, looked for in ${_looked}\n")
  endif()
  unset(_cann_found)
endforeach()

if(_cann_missing)
  message(FATAL_ERROR "The CANN in ${ASCEND_HOME_PATH} is incomplete for building:\n${_cann_missing}"
    "Install the CANN toolkit (not only the runtime), or set ASCEND_HOME_PATH to another one.")
endif()

list(REMOVE_DUPLICATES _cann_include_dirs)
foreach(_library IN ITEMS ascendcl hccl)
  if(NOT TARGET Cann::${_library})
    add_library(Cann::${_library} SHARED IMPORTED)
    set_target_properties(Cann::${_library} PROPERTIES
      IMPORTED_LOCATION ${_cann_${_library}}
      # By name, also where the library carries no soname.
      IMPORTED_NO_SONAME ON
      INTERFACE_INCLUDE_DIRECTORIES "${_cann_include_dirs}")
  endif()
endforeach()
set(Cann_FOUND TRUE)
