# Reads the version from include/horae/version.hpp, its only place.
file(READ "${CMAKE_CURRENT_LIST_DIR}/../include/horae/version.hpp" version_text)
foreach(part MAJOR MINOR PATCH)
  string(REGEX MATCH "HORAE_VERSION_${part} ([0-9]+)" _ "${version_text}")
  list(APPEND version_parts "${CMAKE_MATCH_1}")
endforeach()
list(JOIN version_parts "." HORAE_VERSION)
unset(version_parts)
unset(version_text)
