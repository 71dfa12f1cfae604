# Compiles C programs with the plain C compiler and what pkg-config says, against the shared and the static library, then
# runs them.
set(ENV{PKG_CONFIG_PATH} "${prefix}/${libdir}/pkgconfig")
file(MAKE_DIRECTORY "${work}")
function(compile package file program)
  execute_process(COMMAND pkg-config --cflags --libs ${package} OUTPUT_VARIABLE flags
    OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  separate_arguments(flags UNIX_COMMAND "${flags}")
  execute_process(COMMAND "${cc}" -std=c99 -Wall -Wextra -Wpedantic -Werror "${file}" -o "${work}/${program}" ${flags}
    COMMAND_ERROR_IS_FATAL ANY)
endfunction()

compile(kaisched "${CMAKE_CURRENT_LIST_DIR}/../consumer.c" consumer)
compile(kaisched-static "${source}/examples/embed_c/main.c" embed_c)
set(program "${work}/embed_c")
set(alone ON)
include("${source}/tests/examples/run_example.cmake")

set(ENV{LD_LIBRARY_PATH} "${prefix}/${libdir}")
execute_process(COMMAND "${work}/consumer" OUTPUT_VARIABLE output COMMAND_ERROR_IS_FATAL ANY)
if(NOT output MATCHES "^kaisched ${version}")
  message(FATAL_ERROR "expected version ${version}, the program said: ${output}")
endif()
