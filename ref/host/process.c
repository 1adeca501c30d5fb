/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE    /* memfd_create; all else is POSIX */
#include "process.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "orphans.h"

#define LOWEST 16         /* children's own descriptors are below */

extern char **environ;

/* ---- processes ---- */

int process_start(pid_t *pid, const char *program, char *const argv[], const int *fd, int count, int group)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t none, usual;
    int error;

    if ((error = posix_spawn_file_actions_init(&actions)))
        return error;
    if ((error = posix_spawnattr_init(&attributes))) {
        posix_spawn_file_actions_destroy(&actions);
        return error;
    }
    sigemptyset(&none);
    sigemptyset(&usual);
    sigaddset(&usual, SIGPIPE);    /* which we ignore, but a child should not */
    sigaddset(&usual, SIGINT);
    for (int k = 0; k < count && !error; k++)
        error = posix_spawn_file_actions_adddup2(&actions, fd[k], k);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &usual);
    posix_spawnattr_setpgroup(&attributes, 0);
    posix_spawnattr_setflags(&attributes, (short)(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | (group ? POSIX_SPAWN_SETPGROUP : 0)));
    if (!error) {
        orphans_lock();
        error = posix_spawn(pid, program, &actions, &attributes, argv, environ);
        orphans_unlock(error ? 0 : *pid);
    }
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    return error;
}

/* A wait that fails for another reason than that there is no such child is tried
 * again; so is one that a signal ends. */
static int reap(pid_t pid)
{
    int status = 0;

    for (int tries = 0; tries < 100 && waitpid(pid, &status, 0) < 0 && errno != ECHILD; tries++)
        ;
    orphans_forget(pid);
    return status;
}

int process_end(pid_t pid)
{
    kill(-pid, SIGKILL);
    kill(pid, SIGKILL);
    int status = reap(pid);
    orphans_end();
    return status;
}

int process_has_ended(pid_t pid)
{
    siginfo_t info = { .si_pid = 0 };

    return pid > 0 && !waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) && info.si_pid == pid;
}

int process_wait(pid_t pid, int *status)
{
    *status = 0;
    for (int k = 0; k < 500; k++) {
        pid_t got = waitpid(pid, status, WNOHANG);
        if (got == pid) {
            kill(-pid, SIGKILL);    /* what it left behind */
            orphans_forget(pid);
            orphans_end();
            return 1;
        }
        nanosleep(&(struct timespec){ .tv_nsec = 10000000 }, NULL);
    }
    *status = process_end(pid);
    return 0;
}

const char *process_signal_name(int signal)
{
    static const struct { int signal; const char *name; } names[] = {
        { SIGSEGV, "SIGSEGV" }, { SIGBUS, "SIGBUS" }, { SIGABRT, "SIGABRT" }, { SIGFPE, "SIGFPE" }, { SIGILL, "SIGILL" },
        { SIGKILL, "SIGKILL" }, { SIGTERM, "SIGTERM" }, { SIGPIPE, "SIGPIPE" }, { SIGINT, "SIGINT" }, { SIGHUP, "SIGHUP" },
        { SIGALRM, "SIGALRM" }, { SIGTRAP, "SIGTRAP" }, { SIGSYS, "SIGSYS" }, { SIGQUIT, "SIGQUIT" },
        { SIGXCPU, "SIGXCPU" }, { SIGXFSZ, "SIGXFSZ" }, { SIGUSR1, "SIGUSR1" }, { SIGUSR2, "SIGUSR2" },
    };
    for (size_t k = 0; k < sizeof names / sizeof *names; k++)
        if (names[k].signal == signal)
            return names[k].name;
    return "a signal";
}

const char *process_fate(char text[64], int status)
{
    if (WIFSIGNALED(status))
        snprintf(text, 64, "%s", process_signal_name(WTERMSIG(status)));
    else
        snprintf(text, 64, "exit status %d", WEXITSTATUS(status));
    return text;
}

/* ---- memory that ran out ---- */

long process_count_kills(const char *events)
{
    static const char key[] = "oom_kill ";
    const char *line = events;

    while (line && strncmp(line, key, sizeof key - 1) != 0)
        line = (line = strchr(line, '\n')) ? line + 1 : NULL;
    return line ? strtol(line + sizeof key - 1, NULL, 10) : -1;
}

static int read_text(char text[4096], const char *path)
{
    FILE *f = fopen(path, "re");
    size_t length = f ? fread(text, 1, 4095, f) : 0;

    if (f)
        fclose(f);
    text[length] = 0;
    return length > 0;
}

/* Version 2 has one line, "0::/PATH"; version 1 one for each controller. */
long process_memory_kills(void)
{
    char groups[4096], path[4352], events[4096], *group;

    if (!read_text(groups, "/proc/self/cgroup"))
        return -1;
    if ((group = strstr(groups, ":memory:")))
        group += strlen(":memory:");
    else if (!strncmp(groups, "0::", 3))
        group = groups + 3;
    else
        return -1;
    int is_first = !strncmp(groups, "0::", 3) && group == groups + 3;
    group[strcspn(group, "\n")] = 0;
    snprintf(path, sizeof path, is_first ? "/sys/fs/cgroup%s/memory.events" : "/sys/fs/cgroup/memory%s/memory.oom_control", group);
    return read_text(events, path) ? process_count_kills(events) : -1;
}

/* ---- descriptors ---- */

int process_lift(int fd)
{
    int lifted = fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, LOWEST), why = errno;

    if (fd >= 0)
        close(fd);
    errno = why == EINVAL ? EMFILE : why;    /* the limit is below LOWEST */
    return lifted;
}

static int lift_both(int end[2])
{
    int error = 0;

    for (int k = 0; k < 2; k++)
        if ((end[k] = process_lift(end[k])) < 0)
            error = errno;
    if (!error)
        return 0;
    if (end[0] >= 0)
        close(end[0]);
    if (end[1] >= 0)
        close(end[1]);
    return error;
}

int process_pipe(int end[2])
{
#ifdef __linux__
    return pipe2(end, O_CLOEXEC) ? errno : lift_both(end);
#else
    return pipe(end) ? errno : lift_both(end);
#endif
}

int process_socket(int end[2])
{
#ifdef __linux__
    return socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, end) ? errno : lift_both(end);
#else
    return socketpair(AF_UNIX, SOCK_STREAM, 0, end) ? errno : lift_both(end);
#endif
}

void process_unblock(int fd)
{
    int flags = fcntl(fd, F_GETFL);

    if (flags >= 0)
        fcntl(fd, F_SETFL, flags | O_NONBLOCK);
}

int process_memory(int fd[2], int lasting)
{
#ifdef __linux__
    char path[64];

    if ((fd[0] = memfd_create("qkvec", MFD_CLOEXEC | (lasting ? MFD_ALLOW_SEALING : 0))) < 0)
        return errno;
    if (lasting)
        fcntl(fd[0], F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_SEAL);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd[0]);
    if ((fd[1] = open(path, O_RDONLY | O_CLOEXEC)) < 0) {
        int error = errno;
        close(fd[0]);
        fd[0] = -1;
        return error;
    }
#else
    char name[64];

    (void)lasting;
    snprintf(name, sizeof name, "/qkvec-%ld-%p", (long)getpid(), (void *)fd);
    if ((fd[0] = shm_open(name, O_RDWR | O_CREAT | O_EXCL, 0600)) < 0)
        return errno;
    fd[1] = shm_open(name, O_RDONLY, 0);
    shm_unlink(name);
#endif
    return lift_both(fd);
}

void process_forget(int fd, size_t from)
{
#ifdef __linux__
    struct stat st;

    if (!fstat(fd, &st) && st.st_size > (off_t)from)
        fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)from, st.st_size - (off_t)from);
#else
    (void)fd, (void)from;
#endif
}

int process_send(int socket, const void *data, size_t bytes)
{
    const char *from = data;

    while (bytes) {
        ssize_t sent = send(socket, from, bytes, MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR)
            continue;
        if (sent <= 0)
            return 0;
        from += sent;
        bytes -= (size_t)sent;
    }
    return 1;
}

int process_receive(int socket, void *data, size_t bytes)
{
    char *to = data;

    while (bytes) {
        ssize_t got = read(socket, to, bytes);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return 0;
        to += got;
        bytes -= (size_t)got;
    }
    return 1;
}
