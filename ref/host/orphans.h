/* SPDX-License-Identifier: MIT */
/* Processes that a kernel or command starts and leaves behind, in sessions of
 * their own too: on Linux they become children of the nearest subreaper. */
#ifndef QKVEC_HOST_ORPHANS_H
#define QKVEC_HOST_ORPHANS_H

#include <sys/types.h>

/* From now on this process adopts orphans of its descendants. Children that it
 * has already are not orphans. Called once, before the first process_start(). */
void orphans_adopt(void);

/* While a child is started, so that no other thread takes it for an orphan. */
void orphans_lock(void);
void orphans_unlock(pid_t started);    /* started: the new child, or 0 */

/* The child has been waited for. */
void orphans_forget(pid_t child);

/* Kill and reap every orphan that was adopted, and what it leaves behind in turn. */
void orphans_end(void);

#endif
