/* SPDX-License-Identifier: MIT */
/*
 * Third-party kernels, run so that nothing they do reaches this process.
 *
 * Whatever runs foreign code is another process: for a library a worker, which
 * is this program executed afresh, for a command a supervisor that watches over it.
 * Both are in process groups of their own and die with this process, however it dies.
 */
#ifndef QKVEC_HOST_H
#define QKVEC_HOST_H

#include <signal.h>

#include "../judge/judge.h"

struct host {
    const char *self;        /* this program: it is executed as "SELF host-worker ..." and "SELF host-supervisor ..." */
    double timeout;          /* seconds for a case */
    size_t memory;           /* a worker's address space in bytes; 0: no limit */
    volatile sig_atomic_t *stop;    /* set by a signal handler: give up. Or NULL */
};

/* What argv[0] is when nothing else is known. */
#define HOST_SELF "/proc/self/exe"

/* A shared library, already loaded once by a worker. NULL, or why it cannot be
 * judged at all (it cannot be loaded, it exports no kernel). host must outlive the adapter. */
const char *host_open_kernel(struct adapter *adapter, const struct host *host, const char *library,
                             enum scope scope, char error[600]);

/* A program that answers on its standard output; it is started at the first case. */
const char *host_open_command(struct adapter *adapter, const struct host *host, const char *command, char error[600]);

/* End of the processes behind an adapter. */
void host_close(struct adapter *adapter);

/* Is the case at hand to be given up? */
int host_stopped(const struct host *host);

/* What the executed program does: return what main() is to return. argc and
 * argv come after the word that chose it. */
int host_worker(int argc, char **argv);
int host_supervisor(int argc, char **argv);

#endif
