# SPDX-License-Identifier: MIT
#
#   qkvec_add_conformance(TARGET [PROFILE ...] [CORE] [JOIN] [LABELS label...] [OPTIONS option...] [VECTORS pattern...])
#
# One ctest for each vector and profile, qkvec.TARGET.PROFILE.CATEGORY.NAME,
# that judges the shared library TARGET, with the labels qkvec, TARGET, PROFILE
# and CATEGORY. A vector that the kernel skips is a skipped test.
#
#   PROFILE   float64 float32 tf32 float16 bfloat16 (default float32); several give several tests a vector
#   CORE      judge qkvec_attention_core instead of qkvec_kernel
#   JOIN      one test for each profile instead of each vector: where starting a process costs much (a GPU)
#   LABELS    more labels
#   OPTIONS   more options of "qkvec check": --nondeterministic, --timeout 300
#   VECTORS   names, categories or globs (default all)
#
# The vectors are those of QKVEC_VECTORS_DIR, which find_package(qkvec) sets; if it
# is not set, of the source tree that add_subdirectory() or FetchContent added.

function(qkvec_add_conformance target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "CORE;JOIN" "" "PROFILE;LABELS;OPTIONS;VECTORS")
  set(profiles ${arg_UNPARSED_ARGUMENTS} ${arg_PROFILE})
  if(NOT profiles)
    set(profiles float32)
  endif()
  foreach(profile IN LISTS profiles)
    if(NOT profile MATCHES "^(float64|float32|tf32|float16|bfloat16)$")
      message(FATAL_ERROR "qkvec_add_conformance: no such profile: ${profile}; wanted float64, float32, tf32, float16 or bfloat16")
    endif()
  endforeach()
  if(NOT TARGET ${target})
    message(FATAL_ERROR "qkvec_add_conformance: ${target} is no target")
  endif()
  get_target_property(type ${target} TYPE)
  if(NOT type MATCHES "^(SHARED|MODULE)_LIBRARY$")
    message(FATAL_ERROR "qkvec_add_conformance: ${target} is no SHARED or MODULE library, which a kernel has to be")
  endif()

  set(check $<TARGET_FILE:qkvec::command> check --kernel $<TARGET_FILE:${target}> ${arg_OPTIONS})
  if(arg_CORE)
    list(APPEND check --core)
  endif()
  if(NOT QKVEC_VECTORS_DIR)
    get_property(QKVEC_VECTORS_DIR GLOBAL PROPERTY QKVEC_VECTORS_DIR)
  endif()
  if(QKVEC_VECTORS_DIR)
    list(APPEND check --vectors ${QKVEC_VECTORS_DIR})
  endif()
  set(labels qkvec ${target} ${arg_LABELS})

  # Names are read when tests are: no list of vectors goes stale in a build tree.
  _qkvec_names(names ${arg_VECTORS})
  foreach(profile IN LISTS profiles)
    if(arg_JOIN)
      _qkvec_test(qkvec.${target}.${profile} "${labels};${profile}" ${check} --profile ${profile} ${arg_VECTORS})
      continue()
    endif()
    foreach(name IN LISTS names)
      string(REGEX REPLACE "/.*" "" category ${name})
      string(REPLACE "/" "." dotted ${name})
      _qkvec_test(qkvec.${target}.${profile}.${dotted} "${labels};${profile};${category}" ${check} --profile ${profile} ${name})
    endforeach()
  endforeach()
endfunction()

function(_qkvec_test name labels)
  add_test(NAME ${name} COMMAND ${ARGN})
  # Exit status 2 where nothing was judged: the kernel skipped it, or the
  # profile cannot decide it. Other reasons for 2 print another sentence.
  set_tests_properties(${name} PROPERTIES LABELS "${labels}" SKIP_REGULAR_EXPRESSION "qkvec: check: nothing was judged")
endfunction()

# The vectors' names, by index.json: what is not in it is not judged either.
function(_qkvec_names result)
  set(index ${QKVEC_VECTORS_DIR}/index.json)
  if(NOT EXISTS ${index})
    message(FATAL_ERROR "qkvec_add_conformance: there is no ${index}; set QKVEC_VECTORS_DIR to the directory of the vectors")
  endif()
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${index})
  file(READ ${index} text)
  string(JSON count LENGTH "${text}" vectors)
  if(count LESS 1)
    message(FATAL_ERROR "qkvec_add_conformance: ${index} lists no vectors")
  endif()
  math(EXPR last "${count} - 1")
  set(names "")
  foreach(k RANGE ${last})
    string(JSON name GET "${text}" vectors ${k} name)
    if(NOT ARGN)
      list(APPEND names ${name})
      continue()
    endif()
    string(REGEX REPLACE "/.*" "" category ${name})
    foreach(pattern IN LISTS ARGN)
      string(REGEX REPLACE "([.+()^$])" "\\\\\\1" regex "${pattern}")
      string(REPLACE "*" ".*" regex "${regex}")
      string(REPLACE "?" "." regex "${regex}")
      if(name MATCHES "^${regex}$" OR category STREQUAL pattern)
        list(APPEND names ${name})
        break()
      endif()
    endforeach()
  endforeach()
  if(NOT names)
    message(FATAL_ERROR "qkvec_add_conformance: no vector is named ${ARGN}")
  endif()
  set(${result} ${names} PARENT_SCOPE)
endfunction()
