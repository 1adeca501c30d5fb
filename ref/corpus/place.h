/* SPDX-License-Identifier: MIT */
/* Where the vectors are, when nobody says it. */
#ifndef QKVEC_PLACE_H
#define QKVEC_PLACE_H

/* The environment's QKVEC_VECTORS; else "vectors" beside the program or the
 * shared library that this is part of (a build); else where an installation
 * puts them, seen from there, so that it may be moved; else where this one was
 * to be installed. A path to free, or NULL without memory. */
char *place_vectors(void);

#endif
