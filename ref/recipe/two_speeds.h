/* SPDX-License-Identifier: MIT */
/*
 * TWO_SPEEDS before a static function of plain loops: the compiler makes it
 * twice, for every x86-64 and for those with AVX2, and the program takes the
 * right one as it starts. The operations and their order are the same, hence
 * the bits. (Of a function that is not static, a shared library would export
 * the choice, whatever its visibility.) Only where the compiler and the C
 * library are known to do this well; the sanitizers want their own start.
 */
#ifndef QKVEC_TWO_SPEEDS_H
#define QKVEC_TWO_SPEEDS_H

#include <stddef.h>
#include <stdlib.h>    /* says whether it is glibc */

#if defined __GNUC__ && !defined __clang__ && defined __x86_64__ && defined __GLIBC__ \
    && !defined __SANITIZE_ADDRESS__ && !defined QKVEC_ONE_SPEED
#define TWO_SPEEDS __attribute__((target_clones("avx2", "default")))
#else
#define TWO_SPEEDS
#endif

#endif
