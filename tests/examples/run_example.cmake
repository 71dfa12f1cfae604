# Builds an example examples/embed_* where its language needs that, runs it and compares what it prints; then once more
# with a preset that does not exist, which has to end with a status, the message of the library, and nothing printed.
#   cmake -D source=<top of the tree> [-D besides=<what it prints after the text that is common to all>]
#     [-D alone=ON (the program has the library in it)]
#     (-D program=<what the build made> | -D language=<file beside this one> -D library=<libkaisched.so> ...)
#     -P run_example.cmake
# <language>.cmake sets `program`, or `missing` where the machine lacks something: the test is skipped then.
set(missing "")
if(language)
  set(ENV{KAISCHED_LIBRARY} "${library}")
  include("${CMAKE_CURRENT_LIST_DIR}/${language}.cmake")
endif()
if(missing)
  message("skipped: ${missing}")
  return()
endif()

if(alone)
  execute_process(COMMAND ldd ${program} OUTPUT_VARIABLE libraries COMMAND_ERROR_IS_FATAL ANY)
  if(libraries MATCHES "kaisched")
    message(FATAL_ERROR "${program} needs libraries of kaisched:\n${libraries}")
  endif()
endif()

set(expected "${source}/examples/embed_expected.txt" ${besides})
include("${CMAKE_CURRENT_LIST_DIR}/../abi/expect_output.cmake")

execute_process(COMMAND ${program} nonsense OUTPUT_VARIABLE printed ERROR_VARIABLE complaints RESULT_VARIABLE status)
if(NOT status MATCHES "^[0-9]+$" OR status EQUAL 0 OR NOT printed STREQUAL ""
    OR NOT complaints MATCHES "argument: option preset: 'nonsense' is not one of its [0-9]+ values, such as kai")
  message(FATAL_ERROR "with the preset 'nonsense' ${program} ended with ${status}\n${printed}${complaints}")
endif()
