# Without a folder the program says where the data is, and exits with 2.
execute_process(COMMAND ${PROGRAM} fgd RESULT_VARIABLE status ERROR_VARIABLE said OUTPUT_VARIABLE printed)
if(NOT status EQUAL 2 OR NOT said MATCHES "needs --data FOLDER" OR NOT said MATCHES "github.com/hkust-adsl" OR
   NOT said MATCHES "  [0-9a-f]+  nodes.csv\n" OR NOT printed STREQUAL "")
  message(FATAL_ERROR "status ${status}: ${said}${printed}")
endif()
execute_process(COMMAND ${PROGRAM} fgd --data ${CMAKE_CURRENT_LIST_DIR} RESULT_VARIABLE status ERROR_VARIABLE said)
if(NOT status EQUAL 2 OR NOT said MATCHES "nodes.csv")
  message(FATAL_ERROR "status ${status}: ${said}")
endif()
execute_process(COMMAND ${PROGRAM} shockwave RESULT_VARIABLE status ERROR_VARIABLE said OUTPUT_VARIABLE printed)
if(NOT status EQUAL 2 OR NOT said MATCHES "needs --data FOLDER" OR NOT said MATCHES "github.com/uw-mad-dash" OR
   NOT said MATCHES "  [0-9a-f]+  trace_120_jobs.csv\n" OR NOT printed STREQUAL "")
  message(FATAL_ERROR "status ${status}: ${said}${printed}")
endif()
execute_process(COMMAND ${PROGRAM} shockwave --data ${CMAKE_CURRENT_LIST_DIR} RESULT_VARIABLE status ERROR_VARIABLE said)
if(NOT status EQUAL 2 OR NOT said MATCHES "trace_120_jobs.csv")
  message(FATAL_ERROR "status ${status}: ${said}")
endif()
