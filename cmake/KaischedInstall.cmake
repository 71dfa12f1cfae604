# Installation: libraries, headers, the CMake package and, for the C library, pkg-config files.
include(CMakePackageConfigHelpers)

get_property(install_targets GLOBAL PROPERTY KAISCHED_INSTALL_TARGETS)
set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/kaisched")

install(TARGETS ${install_targets} EXPORT kaisched-targets
  ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT development
  LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT runtime NAMELINK_COMPONENT development)
install(EXPORT kaisched-targets NAMESPACE kaisched:: DESTINATION "${package_dir}" COMPONENT development)
install(DIRECTORY include/kaisched "${PROJECT_BINARY_DIR}/include/kaisched"
  DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" COMPONENT development FILES_MATCHING PATTERN "*.hpp")

configure_package_config_file(cmake/kaisched-config.cmake.in "${PROJECT_BINARY_DIR}/kaisched-config.cmake"
  INSTALL_DESTINATION "${package_dir}")
write_basic_package_version_file("${PROJECT_BINARY_DIR}/kaisched-config-version.cmake"
  VERSION ${PROJECT_VERSION} COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/kaisched-config.cmake" "${PROJECT_BINARY_DIR}/kaisched-config-version.cmake"
  DESTINATION "${package_dir}" COMPONENT development)

if(TARGET kaisched)
  install(DIRECTORY capi/include/ DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" COMPONENT development
    FILES_MATCHING PATTERN "*.h" PATTERN "*.hpp")
  foreach(package IN ITEMS kaisched kaisched-static)
    configure_file(cmake/${package}.pc.in "${PROJECT_BINARY_DIR}/${package}.pc" @ONLY)
    install(FILES "${PROJECT_BINARY_DIR}/${package}.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig" COMPONENT development)
  endforeach()
endif()
set(sbom_of_program "")
if(TARGET kaisched_cli)
  install(TARGETS kaisched_cli RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}" COMPONENT runtime)
  set(sbom_of_program
    PACKAGE yaml-cpp "${yaml-cpp_VERSION}" MIT https://github.com/jbeder/yaml-cpp
    PACKAGE minizip "${minizip_VERSION}" Zlib https://zlib.net
    PACKAGE CLI11 "${CLI11_VERSION}" BSD-3-Clause https://github.com/CLIUtils/CLI11
    PACKAGE Eigen "${Eigen3_VERSION}" MPL-2.0 https://gitlab.com/libeigen/eigen)
endif()

# The same packages as in NOTICE. The CSV reader carries no version.
include(KaischedSbom)
kaisched_sbom("${PROJECT_BINARY_DIR}/kaisched.spdx.json"
  PACKAGE kaisched "${PROJECT_VERSION}" Apache-2.0 NOASSERTION
  PACKAGE Boost "${Boost_VERSION_STRING}" BSL-1.0 https://www.boost.org
  PACKAGE fmt "${fmt_VERSION}" MIT https://github.com/fmtlib/fmt
  PACKAGE nlohmann-json "${nlohmann_json_VERSION}" MIT https://github.com/nlohmann/json
  PACKAGE fast-cpp-csv-parser NOASSERTION BSD-3-Clause https://github.com/ben-strasser/fast-cpp-csv-parser
  ${sbom_of_program})

# Debian packages: the libraries with the program, and what is needed to build against them.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME kaisched)
set(CPACK_PACKAGE_VENDOR kaisched)
set(CPACK_PACKAGE_CONTACT "the kaisched developers <kaisched@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
set(CPACK_RESOURCE_FILE_LICENSE "${PROJECT_SOURCE_DIR}/LICENSE")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_COMPONENTS_ALL runtime development)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_NAME "kaisched${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR}")
set(CPACK_DEBIAN_RUNTIME_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS "${PROJECT_BINARY_DIR}/lib")
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME kaisched-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS
  "kaisched${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR} (= ${PROJECT_VERSION})")
install(FILES "${PROJECT_SOURCE_DIR}/LICENSE" DESTINATION "${CMAKE_INSTALL_DATADIR}/doc/kaisched" COMPONENT runtime
  RENAME copyright)
install(FILES "${PROJECT_SOURCE_DIR}/NOTICE" "${PROJECT_BINARY_DIR}/kaisched.spdx.json"
  DESTINATION "${CMAKE_INSTALL_DATADIR}/doc/kaisched" COMPONENT runtime)
include(CPack)
