/* SPDX-License-Identifier: MIT */
#include "pickle_stack.h"

#include <stdlib.h>

#include "../store/grow.h"

void pickle_start(struct pickle *p, const char *name, char error[SENTENCE])
{
    *p = (struct pickle){ .name = name, .error = error };
}

void pickle_free(struct pickle *p)
{
    free(p->values);
    free(p->cells);
    free(p->stack);
    free(p->memo);
    pickle_start(p, p->name, p->error);
}

const struct value *pickle_item(const struct pickle *p, const struct value *list, size_t k)
{
    if (k >= list->count)
        return NULL;
    uint32_t cell = list->first;
    while (k--)
        cell = p->cells[cell].next;
    return &p->values[p->cells[cell].value];
}

/* ---- values, the stack ---- */

const char *stack_again(struct pickle *p, uint32_t value)
{
    if (p->height == PICKLE_STACK)
        return pickle_refuse(p, "more than %zu values wait on the stack", PICKLE_STACK);
    uint32_t *stack = grow(p->stack, &p->stack_room, p->height, sizeof *stack);
    if (!stack)
        return pickle_refuse(p, "not enough memory for the stack");
    p->stack = stack;
    p->stack[p->height++] = value;
    return NULL;
}

const char *stack_push(struct pickle *p, struct value value)
{
    if (p->value_count == PICKLE_VALUES)
        return pickle_refuse(p, "more than %zu values", PICKLE_VALUES);
    if (value.depth > PICKLE_DEPTH)
        return pickle_refuse(p, "values nested deeper than %d", PICKLE_DEPTH);
    struct value *values = grow(p->values, &p->value_room, p->value_count, sizeof *values);
    if (!values)
        return pickle_refuse(p, "not enough memory for its values");
    p->values = values;
    p->values[p->value_count] = value;
    return stack_again(p, (uint32_t)p->value_count++);
}

const char *stack_number(struct pickle *p, enum value_kind kind, int64_t number)
{
    return stack_push(p, (struct value){ .kind = (unsigned char)kind, .number = number });
}

/* The lowest place of the stack that an opcode may take from: above the last mark. */
static size_t bottom(const struct pickle *p)
{
    return p->mark_count ? p->marks[p->mark_count - 1] : 0;
}

const char *stack_need(struct pickle *p, size_t count)
{
    return p->height - bottom(p) < count ? pickle_refuse(p, "an opcode wants %zu values, found %zu", count, p->height - bottom(p)) : NULL;
}

struct value *stack_top(struct pickle *p, size_t below)
{
    return &p->values[p->stack[p->height - 1 - below]];
}

/* Where the values from the last mark on begin; the mark is taken away. */
const char *stack_unmark(size_t *from, struct pickle *p)
{
    if (!p->mark_count)
        return pickle_refuse(p, "an opcode wants a mark, found none");
    *from = p->marks[--p->mark_count];
    return NULL;
}

/* Append the values from a place of the stack on to a container, and take them off. */
static const char *fill(struct pickle *p, uint32_t container, size_t from)
{
    for (size_t k = from; k < p->height; k++) {
        struct value *c = &p->values[container], *v = &p->values[p->stack[k]];
        if (!p->cell_count)
            p->cell_count = 1;    /* cell 0 is none */
        if (p->cell_count > 2 * PICKLE_VALUES)
            return pickle_refuse(p, "more than %zu items", 2 * PICKLE_VALUES);
        struct cell *cells = grow(p->cells, &p->cell_room, p->cell_count, sizeof *cells);
        if (!cells)
            return pickle_refuse(p, "not enough memory for its items");
        p->cells = cells;
        if (v->depth >= c->depth)
            c->depth = (unsigned char)(v->depth + 1);
        if (c->depth > PICKLE_DEPTH)
            return pickle_refuse(p, "values nested deeper than %d", PICKLE_DEPTH);
        uint32_t cell = (uint32_t)p->cell_count++;
        p->cells[cell] = (struct cell){ .value = p->stack[k] };
        if (c->first)
            p->cells[c->last].next = cell;
        else
            c->first = cell;
        c->last = cell;
        c->count++;
    }
    p->height = from;
    return NULL;
}

const char *stack_container(struct pickle *p, enum value_kind kind)
{
    return stack_push(p, (struct value){ .kind = (unsigned char)kind });
}

const char *stack_tuple(struct pickle *p, size_t from)
{
    const char *wrong = stack_container(p, VALUE_TUPLE);

    if (wrong)
        return wrong;
    uint32_t made = p->stack[--p->height];
    return (wrong = fill(p, made, from)) ? wrong : stack_again(p, made);
}

/* The container below the values from a place on, which must be of that kind. */
const char *stack_add(struct pickle *p, size_t from, enum value_kind kind)
{
    if (from <= bottom(p))
        return pickle_refuse(p, "items without %s to put them into", pickle_kind_name(kind));
    uint32_t into = p->stack[from - 1];
    if (p->values[into].kind != kind)
        return pickle_refuse(p, "items for %s, found %s to put them into", pickle_kind_name(kind), pickle_kind_name(p->values[into].kind));
    if (kind == VALUE_DICT && (p->height - from) % 2)
        return pickle_refuse(p, "a key without a value");
    return fill(p, into, from);
}

const char *stack_mark(struct pickle *p)
{
    if (p->mark_count == PICKLE_DEPTH)
        return pickle_refuse(p, "values nested deeper than %d", PICKLE_DEPTH);
    p->marks[p->mark_count++] = p->height;
    return NULL;
}

/* ---- the memo ---- */

const char *memo_put(struct pickle *p, size_t k)
{
    const char *wrong = stack_need(p, 1);

    if (wrong)
        return wrong;
    if (k > p->memo_count + 1)    /* Python 2 counts from 1 */
        return pickle_refuse(p, "memo entry %zu comes after %zu, wanted them in order", k, p->memo_count);
    while (p->memo_count <= k) {
        uint32_t *entries = grow(p->memo, &p->memo_room, p->memo_count, sizeof *entries);
        if (!entries)
            return pickle_refuse(p, "not enough memory for the memo");
        p->memo = entries;
        p->memo[p->memo_count++] = 0;
    }
    p->memo[k] = p->stack[p->height - 1];
    return NULL;
}

const char *memo_get(struct pickle *p, size_t k)
{
    return k < p->memo_count && p->memo[k] ? stack_again(p, p->memo[k]) : pickle_refuse(p, "memo entry %zu of %zu", k, p->memo_count);
}
