# Compiles the C program with the plain C compiler and what pkg-config says, then runs it.
set(ENV{PKG_CONFIG_PATH} "${prefix}/${libdir}/pkgconfig")
execute_process(COMMAND pkg-config --cflags --libs kaisched OUTPUT_VARIABLE flags
  OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
separate_arguments(flags UNIX_COMMAND "${flags}")
file(MAKE_DIRECTORY "${work}")
execute_process(COMMAND "${cc}" -std=c99 -Wall -Wextra -Wpedantic -Werror "${CMAKE_CURRENT_LIST_DIR}/../consumer.c"
  -o "${work}/consumer" ${flags} COMMAND_ERROR_IS_FATAL ANY)
set(ENV{LD_LIBRARY_PATH} "${prefix}/${libdir}")
execute_process(COMMAND "${work}/consumer" OUTPUT_VARIABLE output COMMAND_ERROR_IS_FATAL ANY)
if(NOT output MATCHES "^kaisched ${version}")
  message(FATAL_ERROR "expected version ${version}, the program said: ${output}")
endif()
