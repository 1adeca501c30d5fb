/* SPDX-License-Identifier: MIT */
#ifndef QKVEC_EXPORT_ONNX_H
#define QKVEC_EXPORT_ONNX_H

/* Write the vectors that words name as ONNX models below dir, with their test
 * data. Returns the exit status, after a message if it is not 0. */
int export_onnx(const char *dir, const char *vectors, int words, char **word);

#endif
