/* SPDX-License-Identifier: MIT */
/*
 * Other bits every time, permitted.
 *
 * verdict: PASS
 * says:
 * options: --nondeterministic
 */
#include "rolls_dice.c"
