/* SPDX-License-Identifier: MIT */
/*
 * The same as reads_behind where arrays are larger than a page.
 *
 * verdict: CRASH
 * says: SIGSEGV: (read|touched) behind the end of key, 0 bytes from it
 * vectors: core/answer medium/e256 core/self
 */
#define NOW (a->E == 256)
#include "reads_behind.c"
