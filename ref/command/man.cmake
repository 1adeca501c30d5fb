# SPDX-License-Identifier: MIT
# cmake -D QKVEC=PROGRAM -D VERSION=V -D IN=qkvec.1.in -D OUT=qkvec.1 -P man.cmake

# What the program prints, safe for roff, in the variable.
function(ask variable)
  execute_process(COMMAND ${QKVEC} ${ARGN} OUTPUT_VARIABLE text RESULT_VARIABLE status)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "${QKVEC} ${ARGN}: exit status ${status}")
  endif()
  string(REPLACE "\\" "\\e" text "${text}")
  string(REPLACE "-" "\\-" text "${text}")
  string(REGEX REPLACE "\n([.'])" "\n\\\\&\\1" text "${text}")
  set(${variable} "${text}" PARENT_SCOPE)
endfunction()

ask(help --help)
string(REGEX MATCHALL "\n  [a-z]+  [^\n]*" lines "${help}")
set(COMMANDS "")
foreach(line IN LISTS lines)
  string(REGEX REPLACE "^\n  ([a-z]+) .*" "\\1" command "${line}")
  ask(text ${command} --help)
  string(APPEND COMMANDS ".SS ${command}\n.nf\n${text}.fi\n")
endforeach()
if(COMMANDS STREQUAL "")
  message(FATAL_ERROR "--help lists no command")
endif()
string(REGEX MATCH "Exit status: ([^\n]*)" unused "${help}")
set(STATUS "${CMAKE_MATCH_1}")
configure_file(${IN} ${OUT} @ONLY)
