# Options, and what only a developer's build gets: a compiler cache, a fast linker, sanitizers.

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES AND PROJECT_IS_TOP_LEVEL)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Debug, Release, RelWithDebInfo or MinSizeRel" FORCE)
endif()
set(checks_default OFF)
if(CMAKE_BUILD_TYPE STREQUAL "Debug" AND PROJECT_IS_TOP_LEVEL)
  set(checks_default ON)
endif()

option(KAISCHED_DEVELOPER "Tests, benchmarks, examples and warnings as errors" ${PROJECT_IS_TOP_LEVEL})
option(KAISCHED_WERROR "Warnings are errors" ${KAISCHED_DEVELOPER})
option(KAISCHED_INSTALL "Install rules" ${PROJECT_IS_TOP_LEVEL})
option(KAISCHED_BUILD_CLI "The program kaisched" ${PROJECT_IS_TOP_LEVEL})
option(KAISCHED_BUILD_PYTHON "The Python extension module" OFF)
option(KAISCHED_CHECKS "Check the invariants after every committed statement" ${checks_default})
option(KAISCHED_UNITY "Compile the sources of a folder together: builds from nothing take a third of the time" OFF)
option(KAISCHED_FUZZ "Fuzz targets as libFuzzer programs; needs KAISCHED_SANITIZE with fuzzer-no-link" OFF)
set(KAISCHED_SANITIZE "" CACHE STRING "Sanitizers: empty, address,undefined or thread")
set_property(CACHE KAISCHED_SANITIZE PROPERTY STRINGS "" "address,undefined" "thread")

if(PROJECT_IS_TOP_LEVEL)
  set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/bin")
  set(CMAKE_LIBRARY_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/lib")
  set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/lib")
endif()

if(KAISCHED_DEVELOPER AND PROJECT_IS_TOP_LEVEL)
  find_program(KAISCHED_CCACHE ccache)
  mark_as_advanced(KAISCHED_CCACHE)
  if(KAISCHED_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
    # pch_defines and time_macros are what ccache asks for before it caches users of a precompiled header.
    set(launcher "${CMAKE_COMMAND}" -E env CCACHE_SLOPPINESS=pch_defines,time_macros "${KAISCHED_CCACHE}")
    set(CMAKE_CXX_COMPILER_LAUNCHER ${launcher} CACHE STRING "compiler cache")
    set(CMAKE_C_COMPILER_LAUNCHER ${launcher} CACHE STRING "compiler cache")
  endif()
  find_program(KAISCHED_MOLD mold)
  mark_as_advanced(KAISCHED_MOLD)
  if(KAISCHED_MOLD)
    add_link_options(-fuse-ld=mold)
  endif()
endif()

if(KAISCHED_SANITIZE AND PROJECT_IS_TOP_LEVEL)
  # These would take almost half of the time to compile. The address sanitizer sees accesses by null and beyond objects as
  # well; misaligned ones are not looked for.
  add_compile_options(-fsanitize=${KAISCHED_SANITIZE} -fno-sanitize=object-size,null,alignment,pointer-overflow
    -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${KAISCHED_SANITIZE})
endif()
