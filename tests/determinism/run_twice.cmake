# The same program twice prints the same bytes, also with another environment and address layout.
execute_process(COMMAND "${PROGRAM}" OUTPUT_VARIABLE first RESULT_VARIABLE failed)
execute_process(COMMAND "${CMAKE_COMMAND}" -E env LC_ALL=C TZ=Asia/Kolkata MALLOC_PERTURB_=165 SOME_LONG_VARIABLE=xxxxxxxxxxxxxxxxxxxxxxxx
                        "${PROGRAM}" OUTPUT_VARIABLE second RESULT_VARIABLE failed_too)
if(failed OR failed_too OR first STREQUAL "" OR NOT first STREQUAL second)
  message(FATAL_ERROR "two runs differ:\n${first}\n---\n${second}")
endif()
