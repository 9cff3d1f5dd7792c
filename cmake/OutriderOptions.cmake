# Flags that every target of the project gets.
set(OUTRIDER_SANITIZE "" CACHE STRING "Sanitizers, e.g. address,undefined")
set(OUTRIDER_MARCH "x86-64-v3" CACHE STRING "-march of our own code; 'native' for this machine only")

find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CCACHE_PROGRAM})
endif()

add_library(outrider_flags INTERFACE)
target_compile_options(outrider_flags INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror
  -ffp-contract=off)  # a fused multiply-add would make results depend on the machine
if(CMAKE_SYSTEM_PROCESSOR STREQUAL "x86_64" AND OUTRIDER_MARCH)
  # DPDK's imported target ends with -march=corei7; the last one wins, so ours
  # is set by outrider_target() after the libraries.
  set(OUTRIDER_MARCH_FLAG -march=${OUTRIDER_MARCH})
endif()
if(OUTRIDER_SANITIZE)
  target_compile_options(outrider_flags INTERFACE
    -fsanitize=${OUTRIDER_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer -O1)
  target_link_options(outrider_flags INTERFACE -fsanitize=${OUTRIDER_SANITIZE})
endif()
