# `cmake --install` makes the tree of the values that the build was configured with.

foreach(name CANN_VERSION SOC DRIVER DEVICES MEMORY CUBE_CORES VECTOR_CORES CACHE)
  install(CODE "set(ASCENDENV_${name} \"${ASCENDENV_${name}}\")")
endforeach()
install(CODE "
  set(BUILT ${BUILT})
  set(HEADERS ${CMAKE_CURRENT_SOURCE_DIR}/include)
  set(ARCH ${CMAKE_SYSTEM_PROCESSOR})
  set(ROOT \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}\")
  set(PLACE \"\${CMAKE_INSTALL_PREFIX}\")
  ")
install(SCRIPT package/tree.cmake)
