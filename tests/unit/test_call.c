/* SPDX-License-Identifier: MIT */
/* Where the arrays of a call are. */
#include <criterion/criterion.h>

#include "judge/call.h"
#include "judge/fuzz_case.h"

enum { PAGE = 4096, CASES = 2000 };

/* Exactly at the end or the begin of its pages, and an unused page around. Returns where it ends. */
static size_t check_slot(const struct call_slot *s, size_t free_from, int at_end)
{
    cr_assert(s->there);
    cr_assert(s->first % PAGE == 0 && s->past % PAGE == 0);
    cr_assert_geq(s->first, free_from + PAGE, "no unused page in front");
    cr_assert_eq(s->past - s->first, (s->bytes + PAGE - 1) / PAGE * PAGE, "no page more than it fills");
    if (at_end)
        cr_assert_eq(s->at + s->bytes, s->past);
    else
        cr_assert_eq(s->at, s->first);
    return s->past;
}

static size_t check_slots(const struct call_slot *slot, int count, size_t bytes, int at_end)
{
    size_t past = 0, most = 0;

    for (int k = 0; k < count; k++)
        if (slot[k].there) {
            past = check_slot(&slot[k], past, at_end);
            most = slot[k].bytes > most ? slot[k].bytes : most;
        }
    cr_assert_geq(bytes, past + PAGE, "no unused page behind");
    return most;
}

static void check_rooms(const struct call_plan *plan)
{
    for (int k = 0; k < CALL_INPUTS; k++)
        if (plan->in[k].there) {
            struct call_room room = call_input_room((enum call_input)k, PAGE);
            cr_assert(plan->in[k].first == room.first && plan->in[k].past <= room.first + room.bytes);
        }
    for (int k = 0; k < CALL_OUTPUTS; k++)
        if (plan->out[k].there) {
            struct call_room room = call_output_room((enum call_output)k, PAGE);
            cr_assert(plan->out[k].first == room.first && plan->out[k].past <= room.first + room.bytes);
        }
    cr_assert_eq(plan->in_bytes, call_input_room(CALL_INPUTS, PAGE).first);
    cr_assert_eq(plan->out_bytes, call_output_room(CALL_OUTPUTS, PAGE).first);
}

Test(call, guarded_arrays)
{
    int in_rooms = 0, in_a_row = 0;

    for (uint64_t number = 0; number < CASES; number++) {
        struct npz z;
        struct vector v;
        struct call_plan plan;
        int at_end = number % 2 == 0;

        cr_assert_null(fuzz_case(&z, number));
        cr_assert_null(vector_from(&v, &z, "case"));
        call_plan(&plan, &v, &profiles[number % PROFILES], number % 3 ? SCOPE_LAYER : SCOPE_CORE, (struct call_layout){ PAGE, at_end });
        size_t in = check_slots(plan.in, CALL_INPUTS, plan.in_bytes, at_end), out = check_slots(plan.out, CALL_OUTPUTS, plan.out_bytes, at_end);
        if (plan.in_rooms)
            check_rooms(&plan);
        else
            cr_assert(in > PAGE || out > PAGE, "it would have had room");
        *(plan.in_rooms ? &in_rooms : &in_a_row) += 1;
        vector_free(&v);
    }
    cr_assert(in_rooms > 100 && in_a_row > 10);
}
