# SPDX-License-Identifier: MIT
# What "cmake --install" puts where, and what "cpack" packs.
include(CMakePackageConfigHelpers)

install(TARGETS qkvec qkvec_kernel EXPORT qkvec)
install(FILES ref/include/qkvec/kernel.h ref/include/qkvec/qkvec.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/qkvec)
install(DIRECTORY vectors/ DESTINATION ${CMAKE_INSTALL_DATADIR}/qkvec/vectors)
install(FILES ref/command/completion.bash RENAME qkvec
  DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)

# ---- the pages, and whatever they link to, each where the links find it ----

set(doc ${CMAKE_INSTALL_DOCDIR})
install(FILES LICENSE DESTINATION ${doc})
install(DIRECTORY tests/kernels/examples DESTINATION ${doc}/tests/kernels PATTERN CMakeLists.txt EXCLUDE)
file(GLOB pages RELATIVE ${PROJECT_SOURCE_DIR} CONFIGURE_DEPENDS docs/*.md)
set(linked README.md vectors/README.md ${pages})
foreach(page README.md vectors/README.md ${pages})
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${page})
  get_filename_component(folder ${page} DIRECTORY)
  file(READ ${page} text)
  string(REPLACE "](" "@LINK " text "${text}")
  string(REGEX REPLACE "[][;]" "" text "${text}")    # they mean something in CMake's lists
  string(REGEX MATCHALL "@LINK [^):# \n]+[)#]" targets "${text}")    # neither a URL nor an anchor
  foreach(target IN LISTS targets)
    string(REGEX REPLACE "^@LINK (.*).$" "${PROJECT_SOURCE_DIR}/${folder}/\\1" target "${target}")
    get_filename_component(target ${target} ABSOLUTE)
    file(RELATIVE_PATH target ${PROJECT_SOURCE_DIR} ${target})
    list(APPEND linked ${target})
  endforeach()
endforeach()
list(REMOVE_DUPLICATES linked)
foreach(file IN LISTS linked)
  get_filename_component(folder ${file} DIRECTORY)
  if(NOT IS_DIRECTORY ${PROJECT_SOURCE_DIR}/${file} AND NOT file MATCHES "^tests/kernels/examples/")
    install(FILES ${file} DESTINATION ${doc}/${folder})
  endif()
endforeach()

# ---- the man page: prose of qkvec.1.in, and what --help says ----

if(CMAKE_CROSSCOMPILING)
  message(STATUS "Cross-compiling: no man page, as the program writes its half")
else()
  add_custom_command(
    OUTPUT qkvec.1
    COMMAND ${CMAKE_COMMAND} -D QKVEC=$<TARGET_FILE:qkvec> -D VERSION=${PROJECT_VERSION}
            -D IN=${PROJECT_SOURCE_DIR}/ref/command/qkvec.1.in -D OUT=qkvec.1
            -P ${PROJECT_SOURCE_DIR}/ref/command/man.cmake
    DEPENDS qkvec ref/command/qkvec.1.in ref/command/man.cmake
    COMMENT "Writing the man page"
    VERBATIM)
  add_custom_target(man ALL DEPENDS qkvec.1)
  install(FILES ${PROJECT_BINARY_DIR}/qkvec.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
endif()

# ---- find_package(qkvec) and pkg-config ----

set(config_dir ${CMAKE_INSTALL_LIBDIR}/cmake/qkvec)
install(TARGETS qkvec_shared EXPORT qkvec)
install(EXPORT qkvec NAMESPACE qkvec:: FILE qkvec-targets.cmake DESTINATION ${config_dir})
if(TARGET qkvec_static)    # apart, as its users need zlib's development files
  install(TARGETS qkvec_static EXPORT qkvec-static)
  install(EXPORT qkvec-static NAMESPACE qkvec:: FILE qkvec-static-targets.cmake DESTINATION ${config_dir})
endif()
# Functions for other projects come along.
file(GLOB function_files CONFIGURE_DEPENDS ref/cmake/*.cmake)
list(FILTER function_files EXCLUDE REGEX "/(library|install|package|package_debian|python)\\.cmake$")
install(FILES ${function_files} DESTINATION ${config_dir})
set(functions "")
foreach(file IN LISTS function_files)
  get_filename_component(file ${file} NAME)
  string(APPEND functions "include(\${CMAKE_CURRENT_LIST_DIR}/${file})\n")
endforeach()
set(vectors_dir ${CMAKE_INSTALL_DATADIR}/qkvec/vectors)
configure_package_config_file(ref/cmake/qkvec-config.cmake.in qkvec-config.cmake
  INSTALL_DESTINATION ${config_dir} PATH_VARS vectors_dir)
write_basic_package_version_file(qkvec-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/qkvec-config.cmake ${PROJECT_BINARY_DIR}/qkvec-config-version.cmake
  DESTINATION ${config_dir})

# Relative, so that the prefix may be moved. pkgconf, which everybody has by now,
# quotes a space in ${pcfiledir} by itself.
file(RELATIVE_PATH pc_prefix ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
file(RELATIVE_PATH pc_lib ${CMAKE_INSTALL_PREFIX} ${CMAKE_INSTALL_FULL_LIBDIR})
file(RELATIVE_PATH pc_include ${CMAKE_INSTALL_PREFIX} ${CMAKE_INSTALL_FULL_INCLUDEDIR})
file(RELATIVE_PATH pc_vectors ${CMAKE_INSTALL_PREFIX} ${CMAKE_INSTALL_FULL_DATADIR}/qkvec/vectors)
set(pc_private "")
foreach(library IN ITEMS ${CMAKE_DL_LIBS} ${CMAKE_THREAD_LIBS_INIT})
  string(REGEX REPLACE "^-l" "" library ${library})
  string(APPEND pc_private " -l${library}")
endforeach()
string(REGEX REPLACE "/$" "" pc_prefix "${pc_prefix}")
configure_file(ref/cmake/qkvec.pc.in qkvec.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/qkvec.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

# ---- packages ----

set(CPACK_PACKAGE_VENDOR "qkvec authors")
set(CPACK_PACKAGE_CONTACT "qkvec authors <qkvec@example.org>")    # policy wants an address; this one is nobody's
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_STRIP_FILES ON)
set(CPACK_GENERATOR TGZ)
find_program(QKVEC_SHLIBDEPS dpkg-shlibdeps)
find_program(QKVEC_FILE file)
mark_as_advanced(QKVEC_SHLIBDEPS QKVEC_FILE)
set(CPACK_QKVEC_NO_DEB "")    # why cpack makes no .deb; package.cmake says it
if(QKVEC_SHLIBDEPS AND QKVEC_FILE)
  list(APPEND CPACK_GENERATOR DEB)
else()
  set(CPACK_QKVEC_NO_DEB "no .deb is made: it takes dpkg-shlibdeps and file (Debian: dpkg-dev file), then cmake once more")
  message(STATUS "cpack: ${CPACK_QKVEC_NO_DEB}")
endif()
set(CPACK_PROJECT_CONFIG_FILE ${PROJECT_SOURCE_DIR}/ref/cmake/package.cmake)
set(CPACK_PRE_BUILD_SCRIPTS ${PROJECT_SOURCE_DIR}/ref/cmake/package_debian.cmake)
set(CPACK_QKVEC_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
file(WRITE ${PROJECT_BINARY_DIR}/debian/shlibs
  "libqkvec ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR} qkvec (>= ${PROJECT_VERSION})\n")
file(WRITE ${PROJECT_BINARY_DIR}/debian/triggers "activate-noawait ldconfig\n")
set(CPACK_DEBIAN_PACKAGE_CONTROL_EXTRA ${PROJECT_BINARY_DIR}/debian/shlibs ${PROJECT_BINARY_DIR}/debian/triggers)
set(CPACK_PACKAGE_DESCRIPTION
"Test vectors hold every step of what torch.nn.MultiheadAttention computes, in
float64, with a bound for each number. The program judges kernels in C, C++,
Rust, CUDA, Python or any other language by them, says at which step a wrong
one goes wrong, and names the mistake. A library does the same from within a
test.")
include(CPack)
