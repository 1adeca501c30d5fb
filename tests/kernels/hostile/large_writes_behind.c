/* SPDX-License-Identifier: MIT */
/*
 * The same as writes_behind where arrays are larger than a page.
 *
 * verdict: CRASH
 * says: SIGSEGV: (wrote|touched) behind the end of output, 0 bytes from it
 * vectors: core/answer medium/e256 core/self
 */
#define NOW (a->E == 256)
#include "writes_behind.c"
