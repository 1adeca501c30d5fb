/* SPDX-License-Identifier: MIT */
/*
 * Between this program and a command: "SELF host-supervisor DIR COMMAND".
 *
 * It starts the command, and when the program that started it lets go of
 * descriptor 3, which it does however it dies, it kills what the command has
 * become, removes the files, and ends as the command did.
 */
#define _POSIX_C_SOURCE 200809L
#define _XOPEN_SOURCE 700
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <stdio.h>
#include <sys/select.h>
#include <sys/wait.h>
#include <unistd.h>

#include "host.h"
#include "orphans.h"
#include "process.h"

enum { LIFE = 3 };

static void on_child(int signal)
{
    (void)signal;    /* its arrival ends pselect() */
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *where)
{
    (void)st, (void)type, (void)where;
    remove(path);
    return 0;
}

/* Until descriptor 3 is let go; *alive becomes 0 when the command ends before. */
static int watch(pid_t child, int *alive)
{
    struct sigaction action = { .sa_handler = on_child };
    sigset_t blocked, open;
    int status = 0;

    sigemptyset(&blocked);
    sigaddset(&blocked, SIGCHLD);
    sigprocmask(SIG_BLOCK, &blocked, &open);
    sigaction(SIGCHLD, &action, NULL);
    for (;;) {
        fd_set set;
        FD_ZERO(&set);
        FD_SET(LIFE, &set);
        if (*alive && waitpid(child, &status, WNOHANG) == child) {
            *alive = 0;
            kill(-child, SIGKILL);    /* or what it left behind would hold its output open */
        }
        if (pselect(LIFE + 1, &set, NULL, NULL, NULL, &open) > 0)
            return status;
    }
}

int host_supervisor(int argc, char **argv)
{
    char *words[] = { (char *)"sh", (char *)"-c", NULL, NULL };
    int fd[3] = { 16, 17, 18 }, alive = 1, status, null;
    pid_t child;

    if (argc != 2)
        return 2;
    words[2] = argv[1];
    fcntl(LIFE, F_SETFD, FD_CLOEXEC);
    for (int k = 0; k < 3; k++)
        if ((fd[k] = fcntl(k, F_DUPFD_CLOEXEC, 16)) < 0)
            return 2;
    orphans_adopt();
    if (process_start(&child, "/bin/sh", words, fd, 3, 1))
        return 2;
    /* Only the command holds the ends of its pipes, or nobody would hear it end. */
    close(fd[0]);
    close(fd[1]);
    if ((null = open("/dev/null", O_RDWR)) >= 0) {
        dup2(null, 0);
        dup2(null, 1);
    }
    status = watch(child, &alive);
    kill(-child, SIGKILL);
    if (alive)
        status = process_end(child);
    orphans_end();
    nftw(argv[0], remove_one, 16, FTW_DEPTH | FTW_PHYS);
    if (WIFSIGNALED(status)) {
        signal(WTERMSIG(status), SIG_DFL);
        raise(WTERMSIG(status));
    }
    _exit(WIFEXITED(status) ? WEXITSTATUS(status) : 2);
}
