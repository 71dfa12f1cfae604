# What the libraries need to build. All of it is private and header-only: an installed kaisched needs none of it.
# What only tests need is looked up in tests/, what only the program needs beside the program.

find_package(Boost 1.81 CONFIG REQUIRED COMPONENTS headers)
find_package(fmt 9 CONFIG REQUIRED)
find_package(nlohmann_json 3.11 CONFIG REQUIRED)
find_path(KAISCHED_CSV_INCLUDE_DIR csv.h PATH_SUFFIXES libfccp fast-cpp-csv-parser REQUIRED)
mark_as_advanced(KAISCHED_CSV_INCLUDE_DIR)

# fmt without its library. Its assertion would print and terminate, which no object of the core may do; what it guards
# are errors in format strings, and those are compile errors here.
add_library(kaisched_fmt INTERFACE)
target_link_libraries(kaisched_fmt INTERFACE fmt::fmt-header-only)
target_compile_options(kaisched_fmt INTERFACE "$<$<COMPILE_LANGUAGE:CXX>:-DFMT_ASSERT(condition,message)=((void)0)>")

# The CSV reader, without its read-ahead thread.
add_library(kaisched_csv INTERFACE)
target_include_directories(kaisched_csv SYSTEM INTERFACE "${KAISCHED_CSV_INCLUDE_DIR}")
target_compile_definitions(kaisched_csv INTERFACE CSV_IO_NO_THREAD)
