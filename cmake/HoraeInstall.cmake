# install(), find_package(horae) and pkg-config.
include(CMakePackageConfigHelpers)

set(horae_package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/horae")
install(TARGETS horae_wheel horae EXPORT horae_targets FILE_SET HEADERS)
install(EXPORT horae_targets FILE horae-targets.cmake NAMESPACE horae:: DESTINATION "${horae_package_dir}")
configure_package_config_file("${PROJECT_SOURCE_DIR}/cmake/horae-config.cmake.in"
                              "${PROJECT_BINARY_DIR}/horae-config.cmake"
                              INSTALL_DESTINATION "${horae_package_dir}")
write_basic_package_version_file("${PROJECT_BINARY_DIR}/horae-config-version.cmake"
                                 COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/horae-config.cmake" "${PROJECT_BINARY_DIR}/horae-config-version.cmake"
        DESTINATION "${horae_package_dir}")

# Relative, so that `cmake --install --prefix` elsewhere and moved trees work.
file(RELATIVE_PATH horae_prefix_from_pc "${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig" "${CMAKE_INSTALL_PREFIX}")
foreach(package horae horae-wheel)
  configure_file("${PROJECT_SOURCE_DIR}/cmake/${package}.pc.in" "${PROJECT_BINARY_DIR}/${package}.pc" @ONLY)
  install(FILES "${PROJECT_BINARY_DIR}/${package}.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
endforeach()
