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

#define ROOM ((size_t)32 << 20)
#define HUGE_PAGE ((size_t)2 << 20)

/* Vector after vector takes and frees the same memory. Left alone, glibc gives
 * much of it back each time, and all of it comes page by page: a tenth of the
 * time of judging. Here what is freed stays for the next vector, and the first
 * 32 MiB come in huge pages where the system has them; none is taken before it
 * is written to. */
void memory_keep(void)
{
#if defined(__GLIBC__) && defined(MADV_HUGEPAGE)
    mallopt(M_MMAP_THRESHOLD, (int)ROOM);
    mallopt(M_TRIM_THRESHOLD, (int)(2 * ROOM));
    unsigned char *room = malloc(ROOM - HUGE_PAGE);    /* just below the first limit: of the heap */
    if (room) {
        size_t skip = HUGE_PAGE - (uintptr_t)room % HUGE_PAGE;
        madvise(room + skip, ROOM - 2 * HUGE_PAGE, MADV_HUGEPAGE);
        free(room);    /* below the second: it stays */
    }
#endif
}
