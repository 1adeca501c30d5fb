#!/bin/sh
# SPDX-License-Identifier: MIT
# step_html.sh PAGE QKVEC NODE CHROMIUM: the page in a headless browser, against the vector.
# Where node or Chromium is missing the status is 77: skipped.
case "$3" in *NOTFOUND | "") echo "SKIPPED step.html: node was not found"; exit 77 ;; esac
case "$4" in *NOTFOUND | "") echo "SKIPPED step.html: chromium was not found"; exit 77 ;; esac
"$3" "$(dirname "$0")/step_html.js" "$@"
