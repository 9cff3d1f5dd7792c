# outrider_library(NAME [COLD] [FOLDERS folder...] [DEPENDS lib...]) adds a static library of the
# .cc files of these folders (default: this one) and below, without main.cc, or an interface
# library if there are none. With CMAKE_UNITY_BUILD a library is compiled as one source, since
# reading the headers takes 2 to 5 s.
#   COLD  no packet passes the library's code, see outrider_cold_flags
function(outrider_library name)
  cmake_parse_arguments(ARG "COLD" "" "FOLDERS;DEPENDS" ${ARGN})
  if(NOT ARG_FOLDERS)
    set(ARG_FOLDERS .)
  endif()
  list(TRANSFORM ARG_FOLDERS PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/)
  list(TRANSFORM ARG_FOLDERS APPEND /*.cc)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${ARG_FOLDERS})
  list(FILTER sources EXCLUDE REGEX "main\\.cc$")
  if(sources)
    add_library(${name} STATIC ${sources})
    set_target_properties(${name} PROPERTIES UNITY_BUILD_BATCH_SIZE 0)
    target_include_directories(${name} PUBLIC ${PROJECT_SOURCE_DIR})
    target_link_libraries(${name} PUBLIC ${ARG_DEPENDS} PRIVATE outrider_flags)
    if(ARG_COLD)
      target_link_libraries(${name} PRIVATE outrider_cold_flags)
    endif()
  else()
    add_library(${name} INTERFACE)
    target_include_directories(${name} INTERFACE ${PROJECT_SOURCE_DIR})
    target_link_libraries(${name} INTERFACE ${ARG_DEPENDS})
  endif()
endfunction()

# outrider_program(NAME SOURCES file... DEPENDS lib...) adds a program in bin/. Its own sources
# read its command line, and are cold.
function(outrider_program name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPENDS" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE ${ARG_DEPENDS} outrider_flags outrider_cold_flags)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
endfunction()

# outrider_version(TARGET) has the target's sources say the project's version, see
# common/telemetry/version.h.
function(outrider_version target)
  target_compile_definitions(${target} PRIVATE OUTRIDER_VERSION="${PROJECT_VERSION}")
endfunction()

# outrider_for_any_cpu(TARGET) compiles a target for the x86-64 baseline, whatever
# OUTRIDER_MARCH says: the last -march wins, so call it after all that links libraries.
function(outrider_for_any_cpu target)
  if(CMAKE_SYSTEM_PROCESSOR STREQUAL "x86_64")
    target_link_libraries(${target} PRIVATE outrider_any_cpu)
  endif()
endfunction()
