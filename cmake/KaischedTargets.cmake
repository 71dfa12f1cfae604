# One way to declare a target, so that standard, warnings, floating point and visibility are decided once.

# ---- warnings: private to our own sources, errors only for developers --------------------------------------------
add_library(kaisched_warnings INTERFACE)
target_compile_options(kaisched_warnings INTERFACE
  -Wall -Wextra -Wpedantic -Wconversion -Wsign-conversion -Wdouble-promotion -Wnull-dereference
  -Wimplicit-fallthrough -Wdate-time
  $<$<COMPILE_LANGUAGE:CXX>:-Wnon-virtual-dtor> $<$<COMPILE_LANGUAGE:CXX>:-Wold-style-cast>)
if(NOT KAISCHED_UNITY)  # where files are compiled together, a local may have the name of something in another file
  target_compile_options(kaisched_warnings INTERFACE -Wshadow)
endif()
if(KAISCHED_WERROR)
  target_compile_options(kaisched_warnings INTERFACE -Werror)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # These g++ warnings are computed after inlining and, in g++ 12, often wrong inside std::string, std::vector and Boost's
  # small_vector. clang and the sanitizer builds watch the same faults; here they are off or only shown.
  target_compile_options(kaisched_warnings INTERFACE
    -Wno-null-dereference $<$<COMPILE_LANGUAGE:CXX>:-Wno-restrict>
    -Wno-error=array-bounds -Wno-error=maybe-uninitialized -Wno-error=stringop-overflow -Wno-error=stringop-overread
    -Wno-error=free-nonheap-object -Wno-error=stringop-truncation -Wno-error=dangling-pointer -Wno-error=use-after-free)
endif()

if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  # libstdc++ 12 marks std::get_temporary_buffer deprecated and uses it in its own std::stable_sort.
  target_compile_options(kaisched_warnings INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Wno-deprecated-declarations>)
endif()

# ---- floating point: no contraction, no reordering. Public, because inline code must round the same everywhere ----
set(KAISCHED_FLOAT_OPTIONS "$<$<COMPILE_LANGUAGE:C,CXX>:-ffp-contract=off>" "$<$<COMPILE_LANGUAGE:C,CXX>:-fno-fast-math>")

function(kaisched_configure_target target)
  set_target_properties(${target} PROPERTIES
    C_STANDARD 99 C_EXTENSIONS OFF CXX_STANDARD 20 CXX_STANDARD_REQUIRED ON CXX_EXTENSIONS OFF
    POSITION_INDEPENDENT_CODE ON
    C_VISIBILITY_PRESET hidden CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
  # __FILE__ is relative to the project: no machine's path in a binary or in a message.
  target_compile_options(${target} PRIVATE -fmacro-prefix-map=${PROJECT_SOURCE_DIR}/=)
  target_link_libraries(${target} PRIVATE $<BUILD_INTERFACE:kaisched_warnings>)
endfunction()

# Sources of one folder are compiled together, two dozen at a time. Of one folder only: names in unnamed namespaces need to
# be unique there and nowhere else.
function(kaisched_group_sources target)
  get_target_property(sources ${target} SOURCES)
  if(NOT KAISCHED_UNITY OR sources MATCHES "TARGET_OBJECTS")
    return()
  endif()
  list(SORT sources)
  foreach(source IN LISTS sources)
    cmake_path(GET source PARENT_PATH folder)
    cmake_path(RELATIVE_PATH folder BASE_DIRECTORY "${PROJECT_SOURCE_DIR}")
    string(MAKE_C_IDENTIFIER "${folder}" folder)
    list(APPEND in_${folder} "${source}")
    list(LENGTH in_${folder} count)
    math(EXPR part "(${count} - 1) / 24")
    set_source_files_properties("${source}" PROPERTIES UNITY_GROUP "${folder}_${part}")
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
endfunction()

# kaisched_add_library(<target> STATIC|SHARED EXPORT_NAME <name> SOURCES ... [PUBLIC_HEADERS <dir>...]
#                      [PUBLIC_LINK ...] [PRIVATE_LINK ...] [VERSION_SCRIPT <file>])
# Makes <target>, its alias kaisched::<name>, and lists it for the package. Private links stay in this build, which is
# right for header-only packages; what a static library passes on to its users goes into PUBLIC_LINK.
function(kaisched_add_library target kind)
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "EXPORT_NAME;VERSION_SCRIPT" "SOURCES;PUBLIC_HEADERS;PUBLIC_LINK;PRIVATE_LINK")
  add_library(${target} ${kind} ${arg_SOURCES})
  add_library(kaisched::${arg_EXPORT_NAME} ALIAS ${target})
  kaisched_configure_target(${target})
  kaisched_group_sources(${target})
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${arg_EXPORT_NAME} LINKER_LANGUAGE CXX)
  target_compile_features(${target} INTERFACE $<IF:$<STREQUAL:${kind},SHARED>,c_std_99,cxx_std_20>)
  target_include_directories(${target} PRIVATE "${PROJECT_SOURCE_DIR}/src")
  if(kind STREQUAL "STATIC")
    target_compile_options(${target} PUBLIC ${KAISCHED_FLOAT_OPTIONS})
    target_compile_definitions(${target} PUBLIC $<$<BOOL:${KAISCHED_CHECKS}>:KAISCHED_CHECKS=1>)
    target_include_directories(${target} PUBLIC
      "$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>" "$<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/include>"
      "$<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>")
  else()
    set_target_properties(${target} PROPERTIES
      VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
    target_include_directories(${target} PUBLIC "$<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>")
    target_link_options(${target} PRIVATE LINKER:--exclude-libs,ALL)
  endif()
  foreach(dir IN LISTS arg_PUBLIC_HEADERS)
    target_include_directories(${target} PUBLIC "$<BUILD_INTERFACE:${dir}>")
  endforeach()
  if(arg_VERSION_SCRIPT)
    target_link_options(${target} PRIVATE "LINKER:--version-script=${arg_VERSION_SCRIPT}")
    set_property(TARGET ${target} APPEND PROPERTY LINK_DEPENDS "${arg_VERSION_SCRIPT}")
  endif()
  target_link_libraries(${target} PUBLIC ${arg_PUBLIC_LINK})
  foreach(library IN LISTS arg_PRIVATE_LINK)
    target_link_libraries(${target} PRIVATE $<BUILD_INTERFACE:${library}>)
  endforeach()
  set_property(GLOBAL APPEND PROPERTY KAISCHED_INSTALL_TARGETS ${target})
endfunction()

# kaisched_add_executable(<target> [OUTPUT_NAME <name>] SOURCES ... [LINK ...] [INTERNAL])
# INTERNAL: may include the private headers under src/ (tests and benchmarks).
function(kaisched_add_executable target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "INTERNAL" "OUTPUT_NAME" "SOURCES;LINK")
  add_executable(${target} ${arg_SOURCES})
  kaisched_configure_target(${target})
  if(arg_OUTPUT_NAME)
    set_target_properties(${target} PROPERTIES OUTPUT_NAME ${arg_OUTPUT_NAME})
  endif()
  if(arg_INTERNAL)
    target_include_directories(${target} PRIVATE "${PROJECT_SOURCE_DIR}/src")
  endif()
  target_link_libraries(${target} PRIVATE ${arg_LINK})
endfunction()

# kaisched_add_test(NAME <name> LABELS <label>... COMMAND <command>... [TIMEOUT <seconds>] [ENVIRONMENT <k=v>...]
#                   [WORKING_DIRECTORY <dir>] [FAIL_ON <regex>...] [SERIAL] [COST <seconds>])
# Runs from the top of the source tree unless told otherwise. Labels choose tiers: see docs/testing.md. Tests that take
# long say so with COST: ctest starts them first, so that none is left to run alone at the end.
function(kaisched_add_test)
  cmake_parse_arguments(PARSE_ARGV 0 arg "SERIAL" "NAME;TIMEOUT;WORKING_DIRECTORY;COST" "LABELS;COMMAND;ENVIRONMENT;FAIL_ON")
  if(NOT arg_NAME OR NOT arg_LABELS OR NOT arg_COMMAND OR arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "kaisched_add_test needs NAME, LABELS and COMMAND: ${ARGN}")
  endif()
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 300)
  endif()
  if(NOT arg_WORKING_DIRECTORY)
    set(arg_WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}")
  endif()
  add_test(NAME ${arg_NAME} COMMAND ${arg_COMMAND} WORKING_DIRECTORY "${arg_WORKING_DIRECTORY}")
  set_tests_properties(${arg_NAME} PROPERTIES LABELS "${arg_LABELS}" TIMEOUT ${arg_TIMEOUT}
    ENVIRONMENT "${arg_ENVIRONMENT}" RUN_SERIAL ${arg_SERIAL})
  if(arg_COST)
    set_tests_properties(${arg_NAME} PROPERTIES COST ${arg_COST})
  endif()
  if(arg_FAIL_ON)
    set_tests_properties(${arg_NAME} PROPERTIES FAIL_REGULAR_EXPRESSION "${arg_FAIL_ON}")
  endif()
endfunction()
