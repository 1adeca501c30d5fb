# SPDX-License-Identifier: MIT
# cmake -D VECTORS=DIR -P vectors.cmake
# Every file of the index is there with its hash, and no other; and there are at
# least FLOOR of them, or an empty list would be a pass.
set(FLOOR 290)

file(READ ${VECTORS}/index.json index)
string(JSON count LENGTH "${index}" vectors)
if(count LESS FLOOR)
  message(SEND_ERROR "the index lists ${count} vectors, wanted at least ${FLOOR}")
endif()

set(listed "")
math(EXPR last "${count} - 1")
foreach(k RANGE ${last})
  string(JSON name GET "${index}" vectors ${k} name)
  string(JSON wanted GET "${index}" vectors ${k} sha256)
  list(APPEND listed ${name}.npz)
  if(NOT EXISTS ${VECTORS}/${name}.npz)
    message(SEND_ERROR "${name}.npz is in the index and not there")
    continue()
  endif()
  file(SHA256 ${VECTORS}/${name}.npz found)
  if(NOT found STREQUAL wanted)
    message(SEND_ERROR "${name}.npz: found sha256 ${found}, the index says ${wanted}")
  endif()
endforeach()

file(GLOB_RECURSE files RELATIVE ${VECTORS} ${VECTORS}/*.npz)
list(REMOVE_ITEM files ${listed})
if(files)
  message(SEND_ERROR "not in the index: ${files}")
endif()
