/* SPDX-License-Identifier: MIT */
/* What a kernel of these folders says of itself, beside the functions of qkvec/kernel.h. */
#ifndef KIT_CARD_H
#define KIT_CARD_H

struct kit_card {
    const char *about;       /* what it does in its own way */
    const char *profile;     /* under which it is judged: float32, float64, float16, bfloat16 */
    const char *meets;       /* wrong/: the tightest profile that it meets on every vector; "none" */
};

#endif
