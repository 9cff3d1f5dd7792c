# What `cmake --install` puts where: programs, their manual pages and bash completions, the module for
# Python, sample configurations, units of systemd, documentation. `cpack --config build/release/CPackConfig.cmake`
# packs the same.
include(GNUInstallDirs)

set(OUTRIDER_PROGRAMS outrider-switch outrider-trafficgen outrider-lab outrider-doctor)
if(TARGET outrider-hostagent)
  list(APPEND OUTRIDER_PROGRAMS outrider-hostagent)
endif()
install(TARGETS ${OUTRIDER_PROGRAMS} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(DIRECTORY conf/ DESTINATION ${CMAKE_INSTALL_DATADIR}/outrider/conf
  PATTERN "*.service" EXCLUDE PATTERN "*.service.d" EXCLUDE PATTERN "*.sysusers" EXCLUDE)
install(FILES tools/python/outrider.py DESTINATION ${CMAKE_INSTALL_DATADIR}/outrider/python)
install(FILES LICENSE tools/lab/report/d3-licence.txt DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(FILES conf/systemd/outrider.sysusers DESTINATION lib/sysusers.d RENAME outrider.conf)

# The manual pages are made of what the programs that are installed say. Documentation and units are
# copied with the names that things have below the prefix, which is known when it is installed.
# Units are where systemd looks below a prefix, whatever the name of its libraries' folder.
find_package(Python3 REQUIRED COMPONENTS Interpreter)
list(TRANSFORM OUTRIDER_PROGRAMS PREPEND "${PROJECT_BINARY_DIR}/bin/" OUTPUT_VARIABLE paths)
set(pages README.md CHANGELOG.md SECURITY.md docs)
file(GLOB units CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR}
  conf/systemd/*.service conf/systemd/*.service.d)
install(CODE "
  cmake_path(ABSOLUTE_PATH CMAKE_INSTALL_PREFIX OUTPUT_VARIABLE prefix)
  function(outrider_run script)
    execute_process(COMMAND \"${Python3_EXECUTABLE}\" tools/dev/\${script} \${ARGN}
      WORKING_DIRECTORY \"${PROJECT_SOURCE_DIR}\" COMMAND_ERROR_IS_FATAL ANY)
  endfunction()
  set(root \"\$ENV{DESTDIR}\${prefix}\")
  outrider_run(manuals --man \"\${root}/${CMAKE_INSTALL_MANDIR}/man1\"
    --completions \"\${root}/${CMAKE_INSTALL_DATADIR}/bash-completion/completions\" ${paths})
  outrider_run(install-text --prefix \"\${prefix}\" --to \"\${root}/${CMAKE_INSTALL_DOCDIR}\"
    ${pages})
  outrider_run(install-text --prefix \"\${prefix}\" --to \"\${root}/lib/systemd/system\" ${units})")

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
set(CPACK_DEBIAN_PACKAGE_CONTROL_EXTRA postinst prerm postrm)
list(TRANSFORM CPACK_DEBIAN_PACKAGE_CONTROL_EXTRA PREPEND "${PROJECT_SOURCE_DIR}/cmake/debian/")
include(CPack)
