/* SPDX-License-Identifier: MIT */
/*
 * The same as reads_before where arrays are larger than a page: they fill theirs, and it shows in the first round.
 *
 * verdict: CRASH
 * says: SIGSEGV: (read|touched) 4 bytes in front of value
 * vectors: core/answer medium/e256 core/self
 */
#define NOW (a->E == 256)
#include "reads_before.c"
