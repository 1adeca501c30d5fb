/* SPDX-License-Identifier: MIT */
/* Of glibc and Linux: how memory comes from the system. */
#define _DEFAULT_SOURCE

#include "command.h"

#include <stdint.h>
#include <stdlib.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif
#include <sys/mman.h>

#define PART ((size_t)24 << 20)
#define LARGE ((size_t)32 << 20)    /* the most that glibc takes for this limit; a part is below it */
#define PAGE ((uintptr_t)4096)

/* Vector after vector takes and frees the same memory. Left alone, glibc gives
 * much of it back each time, and all of it comes page by page: a tenth of the
 * time of judging. Here what is freed stays for the next vector, and the first
 * 48 MiB come in huge pages where the system has them; none is taken before it
 * is written to. */
void memory_keep(void)
{
#if defined(__GLIBC__) && defined(MADV_HUGEPAGE)
    unsigned char *part[2];

    mallopt(M_MMAP_THRESHOLD, (int)LARGE);    /* what is smaller is of the heap, */
    mallopt(M_TRIM_THRESHOLD, (int)(4 * PART));    /* which does not shrink below this */
    for (int k = 0; k < 2; k++)
        if ((part[k] = malloc(PART))) {
            size_t before = (uintptr_t)part[k] % PAGE;
            madvise(part[k] - before, before + PART, MADV_HUGEPAGE);
        }
    free(part[0]);
    free(part[1]);
#endif
}
