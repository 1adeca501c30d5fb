# SPDX-License-Identifier: MIT
# The faults: mutate applies each record of faults.txt to mha.c; the copies are
# compiled with double and with float, and become part of the library.

set(recipe ${CMAKE_CURRENT_LIST_DIR}/../recipe)
set(faults_room ${CMAKE_CURRENT_LIST_DIR})
set(faults_dir ${PROJECT_BINARY_DIR}/faults)
set(faults_files 8)    # mutated copies are bundled into this many files
file(MAKE_DIRECTORY ${faults_dir})

add_executable(mutate ${faults_room}/mutate.c)
target_link_libraries(mutate PRIVATE qkvec_flags)

set(faults_copies)
math(EXPR last "${faults_files} - 1")
foreach(k RANGE ${last})
  list(APPEND faults_copies ${faults_dir}/copies_${k}.c)
endforeach()
add_custom_command(
  OUTPUT ${faults_copies} ${faults_dir}/table.c
  COMMAND mutate ${recipe}/mha.c ${faults_room}/faults.txt ${faults_dir} ${faults_files}
  DEPENDS mutate ${recipe}/mha.c ${faults_room}/faults.txt
  COMMENT "Planting the faults"
  VERBATIM)
add_custom_target(faults_planted DEPENDS ${faults_copies} ${faults_dir}/table.c)

# A fault may leave a function, a parameter or a variable without use, and more that a compiler warns of.
add_library(faults_flags INTERFACE)
target_compile_options(faults_flags INTERFACE -w -O1)
target_compile_definitions(faults_flags INTERFACE QKVEC_ONE_SPEED)    # they are many, and small
add_library(faults_double OBJECT ${faults_copies} ${faults_dir}/table.c)
add_library(faults_float OBJECT ${faults_copies} ${faults_room}/narrow.c)
target_compile_definitions(faults_float PRIVATE REAL=float FAULTS_FLOAT)
foreach(target faults_double faults_float)
  add_dependencies(${target} faults_planted)
  target_include_directories(${target} PRIVATE ${recipe} ${faults_room})
  target_link_libraries(${target} PRIVATE qkvec_flags faults_flags)    # in this order
endforeach()

list(FILTER library_sources EXCLUDE REGEX "/ref/faults/(mutate|narrow)\\.c$")
list(APPEND library_sources $<TARGET_OBJECTS:faults_double> $<TARGET_OBJECTS:faults_float>)
