# SPDX-License-Identifier: MIT
# What a Python wheel holds beside ref/python/qkvec: the library, the program
# and the vectors, all in the package's own folder.
if(SKBUILD)
  foreach(target qkvec qkvec_shared)
    target_link_options(${target} PRIVATE -s)    # without symbols: a wheel is downloaded
  endforeach()
  install(PROGRAMS $<TARGET_FILE:qkvec> DESTINATION qkvec COMPONENT python)
  install(PROGRAMS $<TARGET_FILE:qkvec_shared> RENAME libqkvec${CMAKE_SHARED_LIBRARY_SUFFIX} DESTINATION qkvec COMPONENT python)
  install(DIRECTORY vectors/ DESTINATION qkvec/vectors COMPONENT python)
endif()
