# Debian's and Ubuntu's cross compiler for 64-bit ARM (package g++-aarch64-linux-gnu). What it builds is static, so that
# the emulator (package qemu-user-static or qemu-user) needs no second system beside it.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_EXE_LINKER_FLAGS_INIT -static)

if(NOT CMAKE_HOST_SYSTEM_PROCESSOR STREQUAL "aarch64")
  find_program(KAISCHED_EMULATOR NAMES qemu-aarch64-static qemu-aarch64 REQUIRED)
  mark_as_advanced(KAISCHED_EMULATOR)
  set(CMAKE_CROSSCOMPILING_EMULATOR "${KAISCHED_EMULATOR}")
endif()

# The libraries that the core needs are headers, the same for every machine; but their CMake packages lie in the folder
# of the machine that they were installed for. (yaml-cpp is no header: what links it cannot be built with this file.)
file(GLOB packages LIST_DIRECTORIES true "/usr/lib/*-linux-gnu/cmake")
foreach(folder IN LISTS packages)
  file(GLOB found LIST_DIRECTORIES true "${folder}/Boost-[0-9]*" "${folder}/fmt" "${folder}/nlohmann_json"
    "${folder}/yaml-cpp")
  foreach(package IN LISTS found)
    cmake_path(GET package FILENAME name)
    string(REGEX REPLACE "-[0-9.]+$" "" name "${name}")
    if(NOT DEFINED ${name}_DIR)
      set(${name}_DIR "${package}")
    endif()
  endforeach()
endforeach()
