# Without a folder the program says where the data is, and exits with 2; so it does where a file is not there.
execute_process(COMMAND ${PROGRAM} pollux RESULT_VARIABLE status ERROR_VARIABLE said OUTPUT_VARIABLE printed)
if(NOT status EQUAL 2 OR NOT said MATCHES "reproduce pollux needs --data FOLDER" OR NOT said MATCHES "github.com/petuum/adaptdl" OR
   NOT said MATCHES "  [0-9a-f]+  step_times.csv\n" OR NOT printed STREQUAL "")
  message(FATAL_ERROR "status ${status}: ${said}${printed}")
endif()
execute_process(COMMAND ${PROGRAM} pollux --data ${CMAKE_CURRENT_LIST_DIR} RESULT_VARIABLE status ERROR_VARIABLE said)
if(NOT status EQUAL 2 OR NOT said MATCHES "reproduce pollux: .*app_limits.csv")
  message(FATAL_ERROR "status ${status}: ${said}")
endif()
