# The mark of a simulated CANN, and what its libraries read (src/runtime/configuration.h): what is simulated.
function(write_record home)
  file(WRITE ${home}/share/info/simulator/version.info
    "Version=${ASCENDENV_CANN_VERSION}\n"
    "simulated=true\n"
    "soc=${ASCENDENV_SOC}\n"
    "devices=${ASCENDENV_DEVICES}\n"
    "memory=${ASCENDENV_MEMORY}\n"
    "cube_cores=${ASCENDENV_CUBE_CORES}\n"
    "vector_cores=${ASCENDENV_VECTOR_CORES}\n"
    "l2_cache=${ASCENDENV_CACHE}\n"
    "driver=${ASCENDENV_DRIVER}\n"
    "torch=${ASCENDENV_TORCH_VERSION}\n")
endfunction()
