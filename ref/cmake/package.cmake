# SPDX-License-Identifier: MIT
# Read by cpack before each package.
if(CPACK_QKVEC_NO_DEB)
  message(NOTICE "CPack: ${CPACK_QKVEC_NO_DEB}")
endif()
