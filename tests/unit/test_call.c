/* SPDX-License-Identifier: MIT */
/* Where the arrays of a call are. */
#include <criterion/criterion.h>
#include <stdint.h>

#include "host/call.h"
#include "fuzz/case.h"

enum { PAGE = 4096, CASES = 2000 };

/* Exactly at the end or the begin of its pages, and not a page more than it fills. */
static void check_slot(const struct call_slot *s, size_t bytes, int at_end)
{
    cr_assert(s->first % PAGE == 0 && s->past % PAGE == 0);
    cr_assert_eq(s->past - s->first, (s->bytes + PAGE - 1) / PAGE * PAGE);
    cr_assert_eq(s->at, at_end ? s->past - s->bytes : s->first);
    cr_assert(s->first >= PAGE && s->past + PAGE <= bytes, "no unused page in front of all or behind");
}

/* A page between the two that neither has; an empty one is on a page that no other has. */
static void check_pair(const struct call_slot *a, const struct call_slot *b)
{
    size_t a_past = a->past + (a->bytes ? 0 : PAGE), b_past = b->past + (b->bytes ? 0 : PAGE);

    cr_assert(a_past + PAGE <= b->first || b_past + PAGE <= a->first);
}

/* Returns the bytes of the largest, of in_proj_weight (k is packed) the part that a case may not have and be small. */
static size_t check_slots(const struct call_slot *slot, int count, size_t bytes, int at_end, int packed)
{
    size_t most = 0;

    for (int k = 0; k < count; k++) {
        if (!slot[k].there)
            continue;
        check_slot(&slot[k], bytes, at_end);
        for (int other = 0; other < k; other++)
            if (slot[other].there)
                check_pair(&slot[k], &slot[other]);
        size_t share = k == packed ? slot[k].bytes / CALL_PACKED_PAGES : slot[k].bytes;
        most = share > most ? share : most;
    }
    return most;
}

/* What a small case opens is, from the first page to the last, gaps and pages of its own. */
static void check_gaps(const struct call_slot *slot, int count, int (*is_gap)(size_t))
{
    size_t first = SIZE_MAX, past = 0;

    for (int k = 0; k < count; k++)
        if (slot[k].past > slot[k].first) {
            first = slot[k].first < first ? slot[k].first : first;
            past = slot[k].past > past ? slot[k].past : past;
        }
    for (size_t at = first; at < past; at += PAGE) {
        int owned = 0;
        for (int k = 0; k < count; k++)
            owned += slot[k].there && at >= slot[k].first && at < slot[k].past;
        cr_assert_eq(owned, !is_gap(at / PAGE));
    }
}

Test(call, guarded_arrays)
{
    int small = 0, large = 0;

    for (uint64_t number = 0; number < CASES; number++) {
        struct npz z;
        struct vector v;
        struct call_plan plan;
        int at_end = number % 2 == 0;

        cr_assert_null(fuzz_case(&z, NULL, &(struct fuzz_stream){ .seed = 1, .small = 1 }, number));
        cr_assert_null(vector_from(&v, &z, "case"));
        call_plan(&plan, &v, &profiles[number % PROFILES], number % 3 ? SCOPE_LAYER : SCOPE_CORE, (struct call_layout){ PAGE, at_end });
        size_t in = check_slots(plan.in, CALL_INPUTS, plan.in_bytes, at_end, CALL_IN_PROJ_WEIGHT);
        size_t out = check_slots(plan.out, CALL_OUTPUTS, plan.out_bytes, at_end, CALL_OUTPUTS);
        cr_assert_eq(plan.small, in <= PAGE && out <= PAGE);
        if (plan.small) {
            cr_assert(plan.in_bytes == CALL_SMALL_INPUTS * PAGE && plan.out_bytes == CALL_SMALL_OUTPUTS * PAGE);
            check_gaps(plan.in, CALL_INPUTS, call_input_gap);
            check_gaps(plan.out, CALL_OUTPUTS, call_output_gap);
        }
        *(plan.small ? &small : &large) += 1;
        vector_free(&v);
    }
    cr_assert(small > 100 && large > 10);
}
