/* SPDX-License-Identifier: MIT */
/*
 * The SHA instructions of x86-64 are several times as fast as plain C, and
 * hashing is a fifth of the time it takes to judge with the reference: this is
 * why intrinsics are here, and nowhere else. (Intel, Intel SHA Extensions, 2013.)
 */
#include "sha256_block.h"

#if defined __x86_64__ && defined __GNUC__

#include <cpuid.h>
#include <immintrin.h>

static int ask(void)
{
    unsigned a, b, c, d;
    int sse = __get_cpuid(1, &a, &b, &c, &d) && (c & bit_SSSE3) && (c & bit_SSE4_1);

    return sse && __get_cpuid_count(7, 0, &a, &b, &c, &d) && (b & bit_SHA);
}

/* Asked once: under a hypervisor the question takes microseconds. */
int sha256_has_x86(void)
{
    static _Atomic int answer = -1;

    if (answer < 0)
        answer = ask();
    return answer;
}

/* The instructions want the state as (a,b,e,f) and (c,d,g,h), the first named in
 * the highest place, and do two rounds at a time. */
__attribute__((target("sha,sse4.1,ssse3")))
void sha256_blocks_x86(uint32_t state[8], const unsigned char *block, size_t count)
{
    const __m128i big_endian = _mm_set_epi64x(0x0c0d0e0f08090a0b, 0x0405060700010203);
    __m128i abef = _mm_set_epi32((int)state[0], (int)state[1], (int)state[4], (int)state[5]);
    __m128i cdgh = _mm_set_epi32((int)state[2], (int)state[3], (int)state[6], (int)state[7]);

    for (; count > 0; count--, block += 64) {
        __m128i w[4], abef_before = abef, cdgh_before = cdgh;
        for (int t = 0; t < 16; t++) {    /* four rounds each, with words 4 t to 4 t + 3 */
            __m128i *now = &w[t % 4], next = w[(t + 1) % 4], before = w[(t + 3) % 4];
            if (t < 4)
                *now = _mm_shuffle_epi8(_mm_loadu_si128((const __m128i *)(const void *)(block + 16 * t)), big_endian);
            else
                *now = _mm_sha256msg2_epu32(_mm_add_epi32(_mm_sha256msg1_epu32(*now, next),
                                                          _mm_alignr_epi8(before, w[(t + 2) % 4], 4)), before);
            __m128i sum = _mm_add_epi32(*now, _mm_loadu_si128((const __m128i *)(const void *)(sha256_constant + 4 * t)));
            cdgh = _mm_sha256rnds2_epu32(cdgh, abef, sum);
            abef = _mm_sha256rnds2_epu32(abef, cdgh, _mm_shuffle_epi32(sum, 0x0e));
        }
        abef = _mm_add_epi32(abef, abef_before);
        cdgh = _mm_add_epi32(cdgh, cdgh_before);
    }
    state[0] = (uint32_t)_mm_extract_epi32(abef, 3), state[1] = (uint32_t)_mm_extract_epi32(abef, 2);
    state[4] = (uint32_t)_mm_extract_epi32(abef, 1), state[5] = (uint32_t)_mm_extract_epi32(abef, 0);
    state[2] = (uint32_t)_mm_extract_epi32(cdgh, 3), state[3] = (uint32_t)_mm_extract_epi32(cdgh, 2);
    state[6] = (uint32_t)_mm_extract_epi32(cdgh, 1), state[7] = (uint32_t)_mm_extract_epi32(cdgh, 0);
}

#else

int sha256_has_x86(void)
{
    return 0;
}

void sha256_blocks_x86(uint32_t state[8], const unsigned char *block, size_t count)
{
    (void)state, (void)block, (void)count;
}

#endif
