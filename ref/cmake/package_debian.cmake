# SPDX-License-Identifier: MIT
# Run by cpack over the files that it is about to pack: what Debian's policy wants
# of a .deb beyond what "cmake --install" puts there.
if(NOT CPACK_GENERATOR STREQUAL DEB)
  return()
endif()
set(share ${CPACK_TEMPORARY_INSTALL_DIRECTORY}/usr/share)
set(doc ${share}/doc/${CPACK_PACKAGE_NAME})

file(READ ${CPACK_QKVEC_LICENSE} licence)
file(WRITE ${doc}/copyright "${licence}")
file(REMOVE ${doc}/LICENSE)
file(WRITE ${doc}/changelog "${CPACK_PACKAGE_NAME} (${CPACK_PACKAGE_VERSION}) unstable; urgency=medium

  * What changed in the test vectors: docs/changelog.md.

 -- ${CPACK_PACKAGE_CONTACT}  Tue, 01 Dec 2026 00:00:00 +0000
")
find_program(gzip gzip REQUIRED)
file(GLOB pages ${share}/man/man1/*.1)
execute_process(COMMAND ${gzip} -9nf ${doc}/changelog ${pages} COMMAND_ERROR_IS_FATAL ANY)
