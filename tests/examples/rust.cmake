# Cargo builds into the build folder and never asks the network: the package depends on nothing.
set(wanted 1.80)  # rust-version of the package
find_program(cargo cargo)
set(version "")
if(cargo)
  execute_process(COMMAND "${cargo}" --version OUTPUT_VARIABLE version ERROR_QUIET)
endif()
if(NOT version MATCHES "^cargo ([0-9.]+)" OR CMAKE_MATCH_1 VERSION_LESS wanted)
  set(missing "cargo ${wanted} or newer is absent")
  return()
endif()
execute_process(COMMAND "${cargo}" build --quiet --offline --locked
    --manifest-path "${source}/examples/embed_rust/Cargo.toml" --target-dir "${work}"
  OUTPUT_VARIABLE printed ERROR_VARIABLE complaints RESULT_VARIABLE status)
if(NOT status EQUAL 0)
  message(FATAL_ERROR "cargo build ended with ${status}\n${printed}${complaints}")
endif()
set(program "${work}/debug/embed_rust")
