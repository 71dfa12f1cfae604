# All runs of the table, to every digit.
if(DEFINED ENV{KAISCHED_SHARED})
  set(SHARED "$ENV{KAISCHED_SHARED}")
endif()
if(NOT EXISTS "${SHARED}/data/muri")
  message("skipped: ${SHARED}/data/muri is not here (set KAISCHED_SHARED)")
  return()
endif()
execute_process(COMMAND ${PROGRAM} muri --data "${SHARED}/data/muri" RESULT_VARIABLE status OUTPUT_VARIABLE printed
  ERROR_VARIABLE said)
if(NOT status EQUAL 0 OR NOT printed MATCHES "exact runs: 24 of 24 ")
  message(FATAL_ERROR "status ${status}: ${said}${printed}")
endif()
