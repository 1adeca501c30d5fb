/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE    /* prctl's neighbours; all else is POSIX */
#include "orphans.h"

#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif

enum { KNOWN = 1024, ROUNDS = 64, A_ROUND = 1024 };

/* Signals and processes belong to the whole process, and so does this. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int adopting;
static pid_t known[KNOWN];    /* children that are no orphans; 0: a free place */

static int is_known(pid_t pid)
{
    for (int k = 0; k < KNOWN; k++)
        if (known[k] == pid)
            return 1;
    return 0;
}

static void add_known(pid_t pid)
{
    for (int k = 0; pid > 0 && k < KNOWN; k++)
        if (!known[k]) {
            known[k] = pid;
            return;
        }
}

/* The parent's number stands behind the program's name, which ends at the last parenthesis. */
static pid_t parent_of(pid_t pid)
{
    char path[64], line[512];
    long parent = 0;
    FILE *f;

    snprintf(path, sizeof path, "/proc/%ld/stat", (long)pid);
    if (!(f = fopen(path, "re")))
        return 0;
    size_t length = fread(line, 1, sizeof line - 1, f);
    fclose(f);
    line[length] = 0;
    const char *name_end = strrchr(line, ')');
    return name_end && sscanf(name_end + 1, " %*c %ld", &parent) == 1 ? (pid_t)parent : 0;
}

/* Children of this process that are not known, into pid. Returns how many. */
static int find_orphans(pid_t pid[A_ROUND])
{
    DIR *proc = opendir("/proc");
    int count = 0;

    for (const struct dirent *e; proc && count < A_ROUND && (e = readdir(proc));) {
        pid_t candidate = (pid_t)strtol(e->d_name, NULL, 10);
        if (candidate > 0 && !is_known(candidate) && parent_of(candidate) == getpid())
            pid[count++] = candidate;
    }
    if (proc)
        closedir(proc);
    return count;
}

void orphans_adopt(void)
{
#ifdef PR_SET_CHILD_SUBREAPER
    pid_t pid[A_ROUND];

    pthread_mutex_lock(&lock);
    if (!adopting && !prctl(PR_SET_CHILD_SUBREAPER, 1)) {
        adopting = 1;
        for (int k = find_orphans(pid); k-- > 0;)    /* inherited by exec: not ours to end */
            add_known(pid[k]);
    }
    pthread_mutex_unlock(&lock);
#endif
}

void orphans_lock(void)
{
    pthread_mutex_lock(&lock);
}

void orphans_unlock(pid_t started)
{
    add_known(started);
    pthread_mutex_unlock(&lock);
}

void orphans_forget(pid_t child)
{
    pthread_mutex_lock(&lock);
    for (int k = 0; k < KNOWN; k++)
        if (known[k] == child)
            known[k] = 0;
    pthread_mutex_unlock(&lock);
}

void orphans_end(void)
{
    pid_t pid[A_ROUND];
    int count = 1;

    if (!adopting)
        return;
    pthread_mutex_lock(&lock);
    for (int round = 0; count && round < ROUNDS; round++) {
        count = find_orphans(pid);
        for (int k = 0; k < count; k++) {
            kill(pid[k], SIGKILL);
            while (waitpid(pid[k], NULL, 0) < 0 && errno == EINTR)
                ;
        }
    }
    pthread_mutex_unlock(&lock);
}
