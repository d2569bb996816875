# Configures, builds and installs Horae from its sources, with the settings of somebody who only uses it.
include("${CMAKE_CURRENT_LIST_DIR}/run.cmake")

file(REMOVE_RECURSE "${PREFIX}")
run(${CMAKE_COMMAND} -S "${HORAE_SOURCE}" -B "${BUILD}" -G "${GENERATOR}" "-DCMAKE_CXX_COMPILER=${COMPILER}"
    -DCMAKE_BUILD_TYPE=Release "-DCMAKE_INSTALL_PREFIX=${PREFIX}" -DCMAKE_INSTALL_LIBDIR=lib
    -DHORAE_TESTS=OFF -DHORAE_EXAMPLES=OFF -DHORAE_TOOLS=OFF)
run(${CMAKE_COMMAND} --build "${BUILD}")
run(${CMAKE_COMMAND} --install "${BUILD}")

# All public headers arrive, and nothing else does.
file(GLOB_RECURSE sources RELATIVE "${HORAE_SOURCE}" "${HORAE_SOURCE}/include/horae/*")
file(GLOB_RECURSE installed RELATIVE "${PREFIX}" "${PREFIX}/include/*")
if(NOT sources STREQUAL installed)
  message(FATAL_ERROR "headers in the sources:\n${sources}\nheaders installed:\n${installed}")
endif()
