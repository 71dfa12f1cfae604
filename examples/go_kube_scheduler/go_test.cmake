# Vets and tests the packages of one Go module against a library of this build, without network:
#   cmake -D go=... -D folder=... -D include=... -D library=... -P go_test.cmake
# Modules that are not in the module cache are no failure: the last line says then that the test is skipped.
get_filename_component(library_folder "${library}" DIRECTORY)
# Go's build cache looks neither at headers of C outside of a package nor at libraries.
file(SHA256 "${include}/kaisched/kaisched.h" header)
set(ENV{CGO_CFLAGS} "-O1 -I${include} -DKAISCHED_HEADER_${header}")
set(ENV{CGO_LDFLAGS} "-L${library_folder} -Wl,-rpath,${library_folder}")
set(ENV{CGO_ENABLED} 1)
set(ENV{GOPROXY} off)
set(ENV{GOTOOLCHAIN} local)
set(ENV{GOWORK} off)
set(ENV{GOFLAGS} "-mod=readonly -buildvcs=false")

execute_process(COMMAND "${go}" list -deps -test ./... WORKING_DIRECTORY "${folder}"
  OUTPUT_QUIET ERROR_VARIABLE missing RESULT_VARIABLE status)
if(NOT status EQUAL 0)
  if(missing MATCHES "GOPROXY=off|requires go >=|module lookup disabled")
    message(STATUS "${missing}")
    message(STATUS "skipped: ask for these modules once with (cd ${folder} && go mod download)")
    return()
  endif()
  message(FATAL_ERROR "${missing}")
endif()
execute_process(COMMAND "${go}" vet ./... WORKING_DIRECTORY "${folder}" RESULT_VARIABLE status)
if(status EQUAL 0)
  execute_process(COMMAND "${go}" test -count=1 ./... WORKING_DIRECTORY "${folder}" RESULT_VARIABLE status)
endif()
if(NOT status EQUAL 0)
  message(FATAL_ERROR "go failed with status ${status}")
endif()
