# outrider_embed(TARGET NAMESPACE file...) compiles text files into a library, so that an
# installed program needs no source tree. Each file becomes
#   namespace NAMESPACE { extern const std::string_view kEmbeddedNAME; }
# where NAME is, for example, ReportHtml for report.html.

# The build calls this file as a script:
#   cmake -DINPUT=... -DOUTPUT=... -DNAME=... -DNAMESPACE=... -P EmbedFiles.cmake
if(CMAKE_SCRIPT_MODE_FILE)
  file(READ ${INPUT} hex HEX)
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${hex}")
  string(REGEX REPLACE "(................................................................................)"
         "\\1\n" bytes "${bytes}")
  file(WRITE ${OUTPUT} "#include <string_view>\n\n\
namespace ${NAMESPACE} {\n\n\
namespace {\n\
constexpr unsigned char k${NAME}Bytes[] = {\n${bytes}\n};\n\
}  // namespace\n\n\
extern const std::string_view kEmbedded${NAME};\n\
const std::string_view kEmbedded${NAME}(reinterpret_cast<const char*>(k${NAME}Bytes), sizeof(k${NAME}Bytes));\n\n\
}  // namespace ${NAMESPACE}\n")
  return()
endif()

set(OUTRIDER_EMBED_SCRIPT ${CMAKE_CURRENT_LIST_FILE})

function(outrider_embed target namespace)
  foreach(file IN LISTS ARGN)
    get_filename_component(name ${file} NAME)
    get_filename_component(input ${file} ABSOLUTE)
    string(REGEX MATCHALL "[A-Za-z0-9]+" words ${name})
    set(name "")
    foreach(word IN LISTS words)
      string(SUBSTRING ${word} 0 1 first)
      string(SUBSTRING ${word} 1 -1 rest)
      string(TOUPPER ${first} first)
      string(APPEND name ${first}${rest})
    endforeach()
    set(output ${CMAKE_CURRENT_BINARY_DIR}/embedded_${name}.cc)
    add_custom_command(OUTPUT ${output}
      COMMAND ${CMAKE_COMMAND} -DINPUT=${input} -DOUTPUT=${output}
              -DNAME=${name} -DNAMESPACE=${namespace} -P ${OUTRIDER_EMBED_SCRIPT}
      DEPENDS ${input} ${OUTRIDER_EMBED_SCRIPT} VERBATIM)
    target_sources(${target} PRIVATE ${output})
  endforeach()
endfunction()
