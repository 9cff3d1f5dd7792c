# What `cmake --install` puts where: programs, their manual pages and bash completions, sample
# configurations, documentation. `cpack --config build/release/CPackConfig.cmake` packs the same.
include(GNUInstallDirs)

set(OUTRIDER_PROGRAMS outrider-switch outrider-trafficgen outrider-lab outrider-hostagent
  outrider-doctor)
install(TARGETS ${OUTRIDER_PROGRAMS} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(DIRECTORY conf/ DESTINATION ${CMAKE_INSTALL_DATADIR}/outrider/conf)
install(DIRECTORY docs/ DESTINATION ${CMAKE_INSTALL_DOCDIR}/docs)
install(FILES README.md CHANGELOG.md SECURITY.md LICENSE tools/lab/report/d3-licence.txt
  DESTINATION ${CMAKE_INSTALL_DOCDIR})

# The pages are made of what the programs that are installed say.
find_package(Python3 REQUIRED COMPONENTS Interpreter)
list(TRANSFORM OUTRIDER_PROGRAMS PREPEND "${PROJECT_BINARY_DIR}/bin/" OUTPUT_VARIABLE paths)
install(CODE "
  cmake_path(ABSOLUTE_PATH CMAKE_INSTALL_PREFIX OUTPUT_VARIABLE prefix)
  execute_process(
    COMMAND \"${Python3_EXECUTABLE}\" \"${PROJECT_SOURCE_DIR}/tools/dev/manuals\"
      --man \"\$ENV{DESTDIR}\${prefix}/${CMAKE_INSTALL_MANDIR}/man1\"
      --completions \"\$ENV{DESTDIR}\${prefix}/${CMAKE_INSTALL_DATADIR}/bash-completion/completions\"
      ${paths}
    COMMAND_ERROR_IS_FATAL ANY)")

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME outrider)
set(CPACK_PACKAGE_CONTACT "The Outrider authors")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY
  "switch, traffic generator and lab for bursts of distributed deep learning")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION net)
# What is linked finds its packages itself. DPDK loads its drivers when a program starts.
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_DEPENDS "librte-meta-bus, librte-meta-mempool, librte-meta-net")
include(CPack)
