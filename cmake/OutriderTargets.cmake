# outrider_library(NAME [FOLDERS folder...] [DEPENDS lib...]) adds a static library of the .cc
# files of these folders (default: this one) and below, without main.cc, or an interface
# library if there are none.
function(outrider_library name)
  cmake_parse_arguments(ARG "" "" "FOLDERS;DEPENDS" ${ARGN})
  if(NOT ARG_FOLDERS)
    set(ARG_FOLDERS .)
  endif()
  list(TRANSFORM ARG_FOLDERS PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/)
  list(TRANSFORM ARG_FOLDERS APPEND /*.cc)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${ARG_FOLDERS})
  list(FILTER sources EXCLUDE REGEX "main\\.cc$")
  if(sources)
    add_library(${name} STATIC ${sources})
    target_include_directories(${name} PUBLIC ${PROJECT_SOURCE_DIR})
    target_link_libraries(${name} PUBLIC ${ARG_DEPENDS} PRIVATE outrider_flags)
    if(OUTRIDER_FUZZ)
      target_compile_options(${name} PRIVATE -fsanitize=fuzzer-no-link)  # counts branches
    endif()
  else()
    add_library(${name} INTERFACE)
    target_include_directories(${name} INTERFACE ${PROJECT_SOURCE_DIR})
    target_link_libraries(${name} INTERFACE ${ARG_DEPENDS})
  endif()
endfunction()

# outrider_program(NAME SOURCES file... DEPENDS lib...) adds a program in bin/.
function(outrider_program name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPENDS" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE ${ARG_DEPENDS} outrider_flags)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
endfunction()

# outrider_for_any_cpu(TARGET) compiles a target for the x86-64 baseline, whatever
# OUTRIDER_MARCH says. It sets options of sources, because these come after all others; call it
# in the folder that defines the target.
function(outrider_for_any_cpu target)
  if(CMAKE_SYSTEM_PROCESSOR STREQUAL "x86_64")
    get_target_property(sources ${target} SOURCES)
    set_source_files_properties(${sources} PROPERTIES COMPILE_OPTIONS -march=x86-64)
  endif()
endfunction()
