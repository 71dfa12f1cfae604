# Without a folder the program says where the data is, and exits with 2.
foreach(table fgd muri)
  set(where_fgd "github.com/hkust-adsl")
  set(file_fgd "nodes.csv")
  set(where_muri "github.com/Rivendile/Muri")
  set(file_muri "restart_overhead_s.csv")
  execute_process(COMMAND ${PROGRAM} ${table} RESULT_VARIABLE status ERROR_VARIABLE said OUTPUT_VARIABLE printed)
  if(NOT status EQUAL 2 OR NOT said MATCHES "needs --data FOLDER" OR NOT said MATCHES "${where_${table}}" OR
     NOT said MATCHES "  [0-9a-f]+  ${file_${table}}\n" OR NOT printed STREQUAL "")
    message(FATAL_ERROR "${table}: status ${status}: ${said}${printed}")
  endif()
  execute_process(COMMAND ${PROGRAM} ${table} --data ${CMAKE_CURRENT_LIST_DIR} RESULT_VARIABLE status
    ERROR_VARIABLE said)
  if(NOT status EQUAL 2 OR NOT said MATCHES "${file_${table}}")
    message(FATAL_ERROR "${table}: status ${status}: ${said}")
  endif()
endforeach()
