# Flags that every target of the project gets.
set(OUTRIDER_SANITIZE "" CACHE STRING "Sanitizers, e.g. address,undefined")
option(OUTRIDER_FUZZ "Have the target outrider-fuzz (clang only)" OFF)
set(OUTRIDER_MARCH "x86-64-v3" CACHE STRING "-march of our own code; 'native' for this machine only")

find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM)
  # Another clone in another place may use what this one compiled.
  set(CMAKE_CXX_COMPILER_LAUNCHER env CCACHE_BASEDIR=${PROJECT_SOURCE_DIR} CCACHE_NOHASHDIR=1
      ${CCACHE_PROGRAM})
endif()

add_library(outrider_flags INTERFACE)
target_compile_options(outrider_flags INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror
  -ffp-contract=off  # a fused multiply-add would make results depend on the machine
  # __FILE__ in asserts is the same in every clone: a compiler cache serves them all.
  -fmacro-prefix-map=${PROJECT_SOURCE_DIR}/=)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # g++ 12 reports an overlap in "literal" + std::string that does not exist (GCC bug 105651).
  target_compile_options(outrider_flags INTERFACE -Wno-restrict)
elseif(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # g++ 14 takes an empty optional<string> in an initialiser list for one that is read.
  target_compile_options(outrider_flags INTERFACE -Wno-maybe-uninitialized)
endif()
if(CMAKE_SYSTEM_PROCESSOR STREQUAL "x86_64" AND OUTRIDER_MARCH)
  # DPDK's imported target adds -march=corei7, and the last -march wins. Every target therefore
  # links outrider_flags after everything else.
  target_compile_options(outrider_flags INTERFACE -march=${OUTRIDER_MARCH})
endif()
if(OUTRIDER_SANITIZE)
  target_compile_options(outrider_flags INTERFACE
    -fsanitize=${OUTRIDER_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer
    -O1 -g1)  # reports name functions and lines; types would compile a sixth longer
  target_link_options(outrider_flags INTERFACE -fsanitize=${OUTRIDER_SANITIZE})
  if(OUTRIDER_SANITIZE MATCHES "thread" AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # ThreadSanitizer does not follow fences, and g++ says so of each. The only ones are in
    # SnapshotCell, whose members are atomic, so that none of them can be in a data race.
    target_compile_options(outrider_flags INTERFACE -Wno-tsan)
  endif()
  if(OUTRIDER_SANITIZE MATCHES "thread")
    # DPDK's ring of handovers between lcores: the form with atomics of C11, which
    # ThreadSanitizer understands, instead of stores in the order of x86.
    target_compile_definitions(outrider_flags INTERFACE RTE_USE_C11_MEM_MODEL)
  endif()
endif()
if(OUTRIDER_FUZZ)
  if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    message(FATAL_ERROR "OUTRIDER_FUZZ needs clang: cmake --preset asan")
  endif()
endif()

# For code that no packet passes, and for tests, which drive the libraries: link it behind
# outrider_flags, because the last option wins. g++ takes two thirds as long at -O1 as at -O3, clang
# with sanitizers 40 % as long at -O0 without these checks as at -O1 with them. Floating-point
# results are the same. Where packets are read, a sanitized build keeps all checks.
add_library(outrider_cold_flags INTERFACE)
if(OUTRIDER_SANITIZE)
  target_compile_options(outrider_cold_flags INTERFACE -O0)
  if(OUTRIDER_SANITIZE MATCHES "undefined")
    target_compile_options(outrider_cold_flags INTERFACE
      -fno-sanitize=null,alignment,object-size,vptr)
  endif()
else()
  target_compile_options(outrider_cold_flags INTERFACE $<$<CONFIG:Release>:-O1>)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # g++ 12 at -O1 takes an empty std::optional for one that is read.
    target_compile_options(outrider_cold_flags INTERFACE
      $<$<CONFIG:Release>:-Wno-maybe-uninitialized>)
  endif()
endif()

# Links behind outrider_flags, see outrider_for_any_cpu().
add_library(outrider_any_cpu INTERFACE)
target_compile_options(outrider_any_cpu INTERFACE -march=x86-64)
