/* SPDX-License-Identifier: MIT */
/* The names of everything that cases are drawn from. */
#include "plan.h"

static const char *option_name(size_t k)
{
    static const char *const names[] = {    /* in the order of enum fuzz_option */
        "bias=False", "bias_k and bias_v", "add_zero_attn", "kdim or vdim", "no batch axis", "batch_first",
        "attn_mask for each head", "is_causal", "an empty size",
    };

    return k < sizeof names / sizeof *names ? names[k] : NULL;
}

static const struct { const char *name; const char *(*kind)(size_t k); } aspects[FUZZ_ASPECTS] = {
    [FUZZ_SIZES] = { "sizes", plan_size_name },
    [FUZZ_ATTN_MASK] = { "attn_mask", plan_attn_name },
    [FUZZ_PADDING] = { "key_padding_mask", plan_padding_name },
    [FUZZ_OPTIONS] = { "options", option_name },
    [FUZZ_NUMBERS] = { "numbers", plan_numbers_name },
};

const char *fuzz_aspect_name(enum fuzz_aspect aspect)
{
    return aspects[aspect].name;
}

const char *fuzz_kind_name(enum fuzz_aspect aspect, size_t k)
{
    return aspects[aspect].kind(k);
}
