# Up to CANN 8.3: ascend-toolkit/<version>/ is what one version installs, ascend-toolkit/latest a directory of links
# into it, and the one set_env.sh takes "latest" into effect.

set(HOME ascend-toolkit/${ASCENDENV_CANN_VERSION})
set(PACKAGE_PATH ${HOME}/${ARCH}-linux)
set(VERSION_DIRECTORY ${ASCENDENV_CANN_VERSION})
set(VERSION_RECORDS runtime compiler opp toolkit hccl aoe opp/built-in/op_impl/ai_core/tbe/kernel)

# The script of these versions is not public; this is its effect, seen in images and in reports of their users.
set(SCRIPT ascend-toolkit/set_env.sh)
set(HOME_FROM_SCRIPT /latest)
set(OTHERS [["$_simulator_script"/*]])
set(PROGRAMS "bin compiler/ccec_compiler/bin tools/ccec_compiler/bin")
set(LIBRARIES "tools/aml/lib64 tools/aml/lib64/plugin lib64 lib64/plugin/opskernel lib64/plugin/nnengine opp/built-in/op_impl/ai_core/tbe/op_tiling/lib/linux/${ARCH}")
set(STUBS ${ARCH}-linux/devlib)
set(CMAKE_PACKAGES "")

function(finish_layout root)
  set(toolkit ${root}/ascend-toolkit)
  file(RENAME ${root}/${HOME}/devlib ${root}/${HOME}/${ARCH}-linux/devlib)
  # Who looks for the install records walks through "latest" without following links to directories.
  link_children(${toolkit}/latest ../${ASCENDENV_CANN_VERSION} ${ARCH}-linux)
  link_children(${toolkit}/latest/${ARCH}-linux ../../${ASCENDENV_CANN_VERSION}/${ARCH}-linux "")
  # The numbers in front of the colon are CANN's internal ones, which a simulated one has not.
  set(lines "# version: 1.0\n")
  foreach(state running upgrade installed)
    foreach(component runtime compiler hccl opp toolkit aoe opp_kernel)
      string(APPEND lines "${component}_${state}_version=[simulated:${ASCENDENV_CANN_VERSION}]\n")
    endforeach()
  endforeach()
  file(WRITE ${toolkit}/latest/version.cfg "${lines}")
endfunction()

# Fills a directory with links to all that is in another one, which is named as seen from there.
function(link_children directory target except)
  file(MAKE_DIRECTORY ${directory})
  file(GLOB children RELATIVE ${directory}/${target} ${directory}/${target}/*)
  list(REMOVE_ITEM children "${except}")
  foreach(child IN LISTS children)
    file(CREATE_LINK ${target}/${child} ${directory}/${child} SYMBOLIC)
  endforeach()
endfunction()
