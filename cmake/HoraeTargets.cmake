# The two targets users link, and the private settings all of our own code is built with.

find_package(Threads REQUIRED)

# Warnings and sanitizers are ours alone: users never inherit them.
add_library(horae_settings INTERFACE)
target_compile_options(horae_settings INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wold-style-cast -Wundef
  -Wnon-virtual-dtor -Woverloaded-virtual -Wcast-align -Wimplicit-fallthrough)
option(HORAE_WERROR "Treat warnings as errors" ${PROJECT_IS_TOP_LEVEL})
if(HORAE_WERROR)
  target_compile_options(horae_settings INTERFACE -Werror)
endif()

# horae::wheel: the timing wheel alone, header-only, for anybody's loop.
add_library(horae_wheel INTERFACE)
add_library(horae::wheel ALIAS horae_wheel)
set_target_properties(horae_wheel PROPERTIES EXPORT_NAME wheel)
target_compile_features(horae_wheel INTERFACE cxx_std_20)
file(GLOB wheel_headers CONFIGURE_DEPENDS
     "${PROJECT_SOURCE_DIR}/include/horae/wheel.hpp" "${PROJECT_SOURCE_DIR}/include/horae/version.hpp"
     "${PROJECT_SOURCE_DIR}/include/horae/wheel/*.hpp" "${PROJECT_SOURCE_DIR}/include/horae/base/*.hpp")
target_sources(horae_wheel INTERFACE FILE_SET HEADERS
               BASE_DIRS "${PROJECT_SOURCE_DIR}/include" FILES ${wheel_headers})

# horae::horae: the whole runtime.
add_library(horae)
add_library(horae::horae ALIAS horae)
target_compile_features(horae PUBLIC cxx_std_20)
target_link_libraries(horae PUBLIC horae_wheel Threads::Threads PRIVATE $<BUILD_INTERFACE:horae_settings>)
set_target_properties(horae PROPERTIES
  VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR} POSITION_INDEPENDENT_CODE ON
  VERIFY_INTERFACE_HEADER_SETS ${PROJECT_IS_TOP_LEVEL})
file(GLOB_RECURSE runtime_headers CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/include/horae/*.hpp")
list(REMOVE_ITEM runtime_headers ${wheel_headers})
target_sources(horae PUBLIC FILE_SET HEADERS
               BASE_DIRS "${PROJECT_SOURCE_DIR}/include" FILES ${runtime_headers})
set_target_properties(horae_wheel PROPERTIES VERIFY_INTERFACE_HEADER_SETS ${PROJECT_IS_TOP_LEVEL})
