/* SPDX-License-Identifier: MIT */
/* An honest kernel in float32 with one mistake that depends on a size. */
#ifndef TILES_H
#define TILES_H

#include <stdint.h>

#include "qkvec/kernel.h"

enum tile_axis { AXIS_KEYS, AXIS_QUERIES, AXIS_CHANNELS, AXIS_ITEMS, AXIS_HEADS, TILE_AXES };
enum { TILE_KINDS = 10 };
extern const char *const tile_axes[TILE_AXES], *const tile_kinds[TILE_KINDS];

/* The mistake: an index x of an axis of this size is a victim. A key that is a
 * victim is lost, and so is a channel; a query is taken for query 0; an item has
 * the keys and values of item 0, a head those of head 0. */
struct tile_mistake { enum tile_axis axis; int kind; int64_t T; };
int tile_victim(const struct tile_mistake *m, int64_t x, int64_t size);

/* Some index of an axis of this size is a victim. */
int tile_matters(const struct tile_mistake *m, int64_t size);

/* What tiles_kernel() does wrong; NULL: nothing. */
extern const struct tile_mistake *tile_mistake;
int tiles_kernel(const struct qkvec_call *call);

#endif
