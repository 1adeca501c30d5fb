/* SPDX-License-Identifier: MIT */
/* The stack and the memo of a pickle being read. Of pickle.c and
 * pickle_stack.c alone. All return NULL, or what is wrong. */
#ifndef QKVEC_PICKLE_STACK_H
#define QKVEC_PICKLE_STACK_H

#include "pickle.h"

const char *stack_push(struct pickle *p, struct value value);
const char *stack_number(struct pickle *p, enum value_kind kind, int64_t number);
const char *stack_container(struct pickle *p, enum value_kind kind);    /* an empty one */
const char *stack_again(struct pickle *p, uint32_t value);              /* one that there is already */

/* At least so many values lie above the last mark. */
const char *stack_need(struct pickle *p, size_t count);
struct value *stack_top(struct pickle *p, size_t below);

const char *stack_mark(struct pickle *p);

/* Where the values from the last mark on begin; the mark is taken away. */
const char *stack_unmark(size_t *from, struct pickle *p);

/* The values from a place of the stack on become a tuple, or go into the list
 * or dict below them. */
const char *stack_tuple(struct pickle *p, size_t from);
const char *stack_add(struct pickle *p, size_t from, enum value_kind kind);

/* The value on top becomes entry k; entry k is pushed again. */
const char *memo_put(struct pickle *p, size_t k);
const char *memo_get(struct pickle *p, size_t k);

#endif
