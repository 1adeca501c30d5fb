# SPDX-License-Identifier: MIT
# The library that other programs link: the functions of qkvec/qkvec.h and
# nothing else. All of its own is hidden: in the shared library by the
# compiler's visibility, in the static one by making one object of all and its
# hidden symbols local, so that no name of ours can meet one of theirs.

add_library(qkvec_shared SHARED $<TARGET_OBJECTS:qkvec_front>)
target_link_libraries(qkvec_shared PRIVATE libqkvec)
target_include_directories(qkvec_shared INTERFACE
  $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/ref/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
set_target_properties(qkvec_shared PROPERTIES
  OUTPUT_NAME qkvec EXPORT_NAME qkvec LINKER_LANGUAGE C
  LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}
  VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
add_library(qkvec::qkvec ALIAS qkvec_shared)

if(NOT CMAKE_OBJCOPY)
  message(STATUS "objcopy was not found: no static library with hidden internals")
  return()
endif()
separate_arguments(flags NATIVE_COMMAND "${CMAKE_C_FLAGS}")    # -m32
set(joined ${PROJECT_BINARY_DIR}/qkvec_joined.o)
add_custom_command(
  OUTPUT ${joined}
  COMMAND ${CMAKE_C_COMPILER} ${flags} -r -nostdlib -o ${joined} $<TARGET_OBJECTS:qkvec_front> $<TARGET_FILE:libqkvec>
  COMMAND ${CMAKE_OBJCOPY} --localize-hidden ${joined}
  DEPENDS libqkvec qkvec_front $<TARGET_OBJECTS:qkvec_front>
  COMMENT "Joining the static library"
  COMMAND_EXPAND_LISTS VERBATIM)
add_library(qkvec_static STATIC ${joined})
set_source_files_properties(${joined} PROPERTIES EXTERNAL_OBJECT TRUE GENERATED TRUE)
target_link_libraries(qkvec_static INTERFACE ZLIB::ZLIB Threads::Threads ${CMAKE_DL_LIBS} $<$<BOOL:${QKVEC_MATH}>:m>)
target_include_directories(qkvec_static INTERFACE
  $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/ref/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
set_target_properties(qkvec_static PROPERTIES
  OUTPUT_NAME qkvec EXPORT_NAME static LINKER_LANGUAGE C ARCHIVE_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR})
add_library(qkvec::static ALIAS qkvec_static)
