/* SPDX-License-Identifier: MIT */
/*
 * The same as writes_later where arrays are larger than a page.
 *
 * verdict: CRASH
 * says: SIGSEGV: used an array of an earlier case
 * vectors: core/answer medium/e256 core/self
 */
#define NOW (a->E == 256)
#include "writes_later.c"
