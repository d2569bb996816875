# Configures a consumer anew, builds it, runs its program, and looks at how it was compiled.
include("${CMAKE_CURRENT_LIST_DIR}/run.cmake")

run(${CMAKE_COMMAND} --fresh --no-warn-unused-cli -S "${SOURCE}" -B "${BUILD}" -G "${GENERATOR}"
    "-DCMAKE_CXX_COMPILER=${COMPILER}" -DCMAKE_BUILD_TYPE= -DCMAKE_EXPORT_COMPILE_COMMANDS=ON
    "-DCMAKE_PREFIX_PATH=${PREFIX}" -DCMAKE_FIND_USE_PACKAGE_REGISTRY=OFF "-DHORAE_SOURCE=${HORAE_SOURCE}"
    "-DHORAE_VERSION_EXPECTED=${VERSION}")
run(${CMAKE_COMMAND} --build "${BUILD}")
run("${BUILD}/consumer")

# Our warnings and sanitizers are ours alone.
file(READ "${BUILD}/compile_commands.json" commands)
string(JSON count LENGTH "${commands}")
math(EXPR last "${count} - 1")
set(own 0)
foreach(i RANGE ${last})
  string(JSON command GET "${commands}" ${i} command)
  string(JSON file GET "${commands}" ${i} file)
  if(file MATCHES "/use_[a-z]+\\.cpp$")
    math(EXPR own "${own} + 1")
    if(command MATCHES " -(W|f|O|g)[^ ]*")
      message(FATAL_ERROR "the consumer inherits '${CMAKE_MATCH_0}':\n${command}")
    endif()
  endif()
endforeach()
if(own EQUAL 0)
  message(FATAL_ERROR "the consumer's own file is not in compile_commands.json:\n${commands}")
endif()
