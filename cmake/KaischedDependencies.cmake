# What the libraries need to build. All of it is private and header-only: an installed kaisched needs none of it.
# What only tests need is looked up in tests/, what only the program needs beside the program.

find_package(Boost 1.81 CONFIG REQUIRED COMPONENTS headers)
find_package(fmt 9 CONFIG REQUIRED)
find_package(nlohmann_json 3.11 CONFIG REQUIRED)
find_path(KAISCHED_CSV_INCLUDE_DIR csv.h PATH_SUFFIXES libfccp fast-cpp-csv-parser REQUIRED)
mark_as_advanced(KAISCHED_CSV_INCLUDE_DIR)

# fmt in a namespace of ours and compiled once, so that no library of fmt is needed and none clashes. Its assertion would
# print and terminate, which no object of the core may do; what it guards are errors in format strings, and those are
# compile errors here. Of a fmt that the source does not fit, every source compiles all of it.
set(fmt_options "-DFMT_ASSERT(condition,message)=((void)0)"
  "-DFMT_BEGIN_NAMESPACE=namespace fmt { inline namespace kaisched {" "-DFMT_END_NAMESPACE=}}")
get_target_property(fmt_includes fmt::fmt-header-only INTERFACE_INCLUDE_DIRECTORIES)
if(fmt_VERSION VERSION_GREATER_EQUAL 9.1 AND fmt_VERSION VERSION_LESS 10)
  set(KAISCHED_COMPILED_FMT ON)
else()
  set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)
  try_compile(KAISCHED_COMPILED_FMT "${PROJECT_BINARY_DIR}/fmt" "${CMAKE_CURRENT_LIST_DIR}/fmt.cpp"
    CMAKE_FLAGS "-DINCLUDE_DIRECTORIES=${fmt_includes}" CXX_STANDARD 20)
  unset(CMAKE_TRY_COMPILE_TARGET_TYPE)
endif()
if(KAISCHED_COMPILED_FMT)
  # What is no stream is an object of the core as well: a program that links the core alone finds it there.
  add_library(kaisched_fmt_objects OBJECT "${CMAKE_CURRENT_LIST_DIR}/fmt.cpp")
  add_library(kaisched_fmt STATIC EXCLUDE_FROM_ALL "${CMAKE_CURRENT_LIST_DIR}/fmt_print.cpp" $<TARGET_OBJECTS:kaisched_fmt_objects>)
  foreach(target IN ITEMS kaisched_fmt_objects kaisched_fmt)
    set_target_properties(${target} PROPERTIES CXX_STANDARD 20 CXX_STANDARD_REQUIRED ON CXX_EXTENSIONS OFF
      POSITION_INDEPENDENT_CODE ON CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
    target_include_directories(${target} SYSTEM PRIVATE "${fmt_includes}")
    target_compile_options(${target} PRIVATE ${fmt_options})
  endforeach()
  target_include_directories(kaisched_fmt SYSTEM INTERFACE "${fmt_includes}")
else()
  add_library(kaisched_fmt INTERFACE)
  target_link_libraries(kaisched_fmt INTERFACE fmt::fmt-header-only)
endif()
foreach(option IN LISTS fmt_options)
  target_compile_options(kaisched_fmt INTERFACE "$<$<COMPILE_LANGUAGE:CXX>:SHELL:\"${option}\">")
endforeach()

# The CSV reader, without its read-ahead thread.
add_library(kaisched_csv INTERFACE)
target_include_directories(kaisched_csv SYSTEM INTERFACE "${KAISCHED_CSV_INCLUDE_DIR}")
target_compile_definitions(kaisched_csv INTERFACE CSV_IO_NO_THREAD)
