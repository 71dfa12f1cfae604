# Runs a program and compares what it prints with a committed file:
#   cmake -D program=... -D expected=... [-D update=ON] -P expect_output.cmake
execute_process(COMMAND "${program}" OUTPUT_VARIABLE printed ERROR_VARIABLE complaints RESULT_VARIABLE status)
if(NOT status EQUAL 0)
  message(FATAL_ERROR "${program} ended with ${status}\n${printed}${complaints}")
endif()
if(update)
  file(WRITE "${expected}" "${printed}")
  return()
endif()
file(READ "${expected}" wanted)
if(NOT printed STREQUAL wanted)
  message(FATAL_ERROR "${program} printed\n${printed}\n${expected} expects\n${wanted}")
endif()
