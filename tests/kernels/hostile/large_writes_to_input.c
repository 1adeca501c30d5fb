/* SPDX-License-Identifier: MIT */
/*
 * The same as writes_to_input where arrays are larger than a page.
 *
 * verdict: CRASH
 * says: SIGSEGV: wrote to the input query, which is read-only
 * vectors: core/answer medium/e256 core/self
 */
#define NOW (a->E == 256)
#include "writes_to_input.c"
