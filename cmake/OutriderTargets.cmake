option(OUTRIDER_JOIN "Compile a target's files as few sources: reading the headers takes 2 to 5 s" ON)

# outrider_join(VARIABLE NAME FILES file...) sets VARIABLE to sources of target NAME that include
# FILES of these files each. Files with options of their own, set before, are left as they are, as are
# all without OUTRIDER_JOIN. CMake's own joined sources have the clone's path in their includes, so
# that ccache has to preprocess each of them in another clone.
function(outrider_join variable name files)
  set(sources)
  set(joined 0)
  foreach(file IN LISTS ARGN)
    get_source_file_property(options ${file} COMPILE_OPTIONS)
    get_source_file_property(definitions ${file} COMPILE_DEFINITIONS)
    if(options OR definitions OR NOT OUTRIDER_JOIN)
      list(APPEND sources ${file})
      continue()
    endif()
    get_filename_component(path ${file} ABSOLUTE)
    file(RELATIVE_PATH path ${PROJECT_SOURCE_DIR} ${path})
    math(EXPR part "${joined} / ${files}")
    string(APPEND text_of_${part} "#include \"${path}\"\n")
    math(EXPR joined "${joined} + 1")
  endforeach()
  if(joined GREATER 0)
    foreach(number RANGE ${part})
      set(source ${CMAKE_CURRENT_BINARY_DIR}/joined/${name}_${number}.cc)
      file(CONFIGURE OUTPUT ${source} CONTENT "${text_of_${number}}" @ONLY)
      list(APPEND sources ${source})
    endforeach()
  endif()
  set(${variable} ${sources} PARENT_SCOPE)
endfunction()

# outrider_library(NAME [COLD] [FOLDERS folder...] [JOIN files] [DEPENDS lib...]) adds a static library
# of the .cc files of these folders (default: this one) and below, without main.cc, or an interface
# library if there are none.
#   COLD  no packet passes the library's code, see outrider_cold_flags
#   JOIN  most files that are compiled as one source; default: all
function(outrider_library name)
  cmake_parse_arguments(ARG "COLD" "JOIN" "FOLDERS;DEPENDS" ${ARGN})
  if(NOT ARG_JOIN)
    set(ARG_JOIN 1000)
  endif()
  if(NOT ARG_FOLDERS)
    set(ARG_FOLDERS .)
  endif()
  list(TRANSFORM ARG_FOLDERS PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/)
  list(TRANSFORM ARG_FOLDERS APPEND /*.cc)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${ARG_FOLDERS})
  list(FILTER sources EXCLUDE REGEX "main\\.cc$")
  if(sources)
    outrider_join(sources ${name} ${ARG_JOIN} ${sources})
    add_library(${name} STATIC ${sources})
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
  outrider_join(sources ${name} 1000 ${ARG_SOURCES})
  add_executable(${name} ${sources})
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
