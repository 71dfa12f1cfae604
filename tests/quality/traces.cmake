# Some public traces, where the data is: the folder that the environment variable KAISCHED_SHARED names, else the folder
# `shared` beside the checkout.
if(DEFINED ENV{KAISCHED_SHARED})
  set(SHARED "$ENV{KAISCHED_SHARED}")
endif()
if(NOT EXISTS "${SHARED}/data/itp/itp_jobs.csv")
  message("skipped: shared data absent")
  return()
endif()
execute_process(COMMAND ${PROGRAM} --data "${SHARED}/data" --workloads itp-10,shockwave-120 --check "${TABLE}"
  RESULT_VARIABLE status OUTPUT_VARIABLE said ERROR_VARIABLE said)
if(NOT status EQUAL 0)
  message(FATAL_ERROR "${said}")
endif()
