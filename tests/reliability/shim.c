/* SPDX-License-Identifier: MIT */
/*
 * A library to be loaded before all others (LD_PRELOAD): in the program itself,
 * not in its workers, the n-th call of one function fails.
 *
 *   INJECT_CALL=malloc INJECT_NTH=7    the seventh malloc() gives NULL
 *   INJECT_FIRED=FILE                  made when that happens
 *   INJECT_COUNTS=FILE                 gets a line "CALL COUNT" for each function at the end
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum call {
    MALLOC, CALLOC, REALLOC, ALIGNED_ALLOC, MMAP, OPEN, FOPEN, FDOPEN, READ, PREAD, WRITE, SEND, FSYNC, FTRUNCATE,
    RENAME, FSTAT, STAT, MKDTEMP, REALPATH, SCANDIR, FCNTL, PIPE2, SOCKETPAIR, MEMFD_CREATE, POSIX_SPAWN,
    PTHREAD_CREATE, POLL, WAITPID, CALLS
};

/* The errno of each: one that the system gives when it lacks something. */
static const struct { const char *name; int error; } calls[CALLS] = {
    [MALLOC] = { "malloc", ENOMEM }, [CALLOC] = { "calloc", ENOMEM }, [REALLOC] = { "realloc", ENOMEM },
    [ALIGNED_ALLOC] = { "aligned_alloc", ENOMEM }, [MMAP] = { "mmap", ENOMEM }, [OPEN] = { "open", EMFILE },
    [FOPEN] = { "fopen", EMFILE }, [FDOPEN] = { "fdopen", ENOMEM }, [READ] = { "read", EIO }, [PREAD] = { "pread", EIO },
    [WRITE] = { "write", ENOSPC }, [SEND] = { "send", ENOBUFS }, [FSYNC] = { "fsync", EIO }, [FTRUNCATE] = { "ftruncate", ENOSPC },
    [RENAME] = { "rename", EIO }, [FSTAT] = { "fstat", EIO }, [STAT] = { "stat", EIO }, [MKDTEMP] = { "mkdtemp", EACCES },
    [REALPATH] = { "realpath", ENOMEM }, [SCANDIR] = { "scandir", ENOMEM }, [FCNTL] = { "fcntl", EMFILE }, [PIPE2] = { "pipe2", EMFILE },
    [SOCKETPAIR] = { "socketpair", EMFILE }, [MEMFD_CREATE] = { "memfd_create", EMFILE }, [POSIX_SPAWN] = { "posix_spawn", EAGAIN },
    [PTHREAD_CREATE] = { "pthread_create", EAGAIN }, [POLL] = { "poll", ENOMEM }, [WAITPID] = { "waitpid", EINTR },
};

static int active, chosen = CALLS;
static long nth;
static atomic_long counted[CALLS];
static char fired[512], counts[512];

extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t), *__libc_memalign(size_t, size_t);

/* In this program and not in what it executes of itself. */
static int is_main_process(void)
{
    char line[4096] = { 0 };
    long fd = syscall(SYS_openat, AT_FDCWD, "/proc/self/cmdline", O_RDONLY | O_CLOEXEC, 0);
    long length = fd < 0 ? 0 : syscall(SYS_read, fd, line, sizeof line - 2);

    if (fd >= 0)
        syscall(SYS_close, fd);
    size_t first = strlen(line);
    const char *second = length > (long)first + 1 ? line + first + 1 : "";
    return first >= 5 && !strcmp(line + first - 5, "qkvec") && strncmp(second, "host-", 5) != 0;
}

__attribute__((constructor)) static void begin(void)
{
    const char *call = getenv("INJECT_CALL"), *n = getenv("INJECT_NTH"), *f = getenv("INJECT_FIRED"), *c = getenv("INJECT_COUNTS");

    if (!is_main_process())
        return;
    for (int k = 0; call && k < CALLS; k++)
        if (!strcmp(calls[k].name, call))
            chosen = k;
    nth = n ? atol(n) : 0;
    snprintf(fired, sizeof fired, "%s", f ? f : "");
    snprintf(counts, sizeof counts, "%s", c ? c : "");
    active = 1;
}

static void write_to(const char *path, const char *text, int flags)
{
    long fd = syscall(SYS_openat, AT_FDCWD, path, O_CREAT | O_WRONLY | O_CLOEXEC | flags, 0644);

    if (fd < 0)
        return;
    syscall(SYS_write, fd, text, strlen(text));
    syscall(SYS_close, fd);
}

__attribute__((destructor)) static void finish(void)
{
    char line[128];

    for (int k = 0; active && counts[0] && k < CALLS; k++) {
        snprintf(line, sizeof line, "%s %ld\n", calls[k].name, atomic_load(&counted[k]));
        write_to(counts, line, O_APPEND);
    }
}

/* Count a call. Returns 1 if it is to fail; errno is set. */
static int fails(enum call call)
{
    if (!active)
        return 0;
    long k = atomic_fetch_add(&counted[call], 1) + 1;
    if ((int)call != chosen || k != nth)
        return 0;
    if (fired[0])
        write_to(fired, "", 0);
    errno = calls[call].error;
    return 1;
}

#define REAL(result, name, parameters) \
    static result (*real) parameters; \
    if (!real) { void *symbol = dlsym(RTLD_NEXT, #name); memcpy(&real, &symbol, sizeof real); }

/* memory: the dynamic linker allocates before dlsym() can be asked */
void *malloc(size_t size) { return fails(MALLOC) ? NULL : __libc_malloc(size); }
void *calloc(size_t count, size_t size) { return fails(CALLOC) ? NULL : __libc_calloc(count, size); }
void *realloc(void *old, size_t size) { return fails(REALLOC) ? NULL : __libc_realloc(old, size); }
void *aligned_alloc(size_t alignment, size_t size) { return fails(ALIGNED_ALLOC) ? NULL : __libc_memalign(alignment, size); }

void *mmap(void *at, size_t bytes, int protection, int flags, int fd, off_t from)
{
    return fails(MMAP) ? MAP_FAILED : (void *)syscall(SYS_mmap, at, bytes, protection, flags, fd, from);
}

/* files */
static int open_really(const char *path, int flags, va_list list)
{
    return fails(OPEN) ? -1 : (int)syscall(SYS_openat, AT_FDCWD, path, flags, flags & (O_CREAT | O_TMPFILE) ? va_arg(list, mode_t) : 0);
}

int open(const char *path, int flags, ...)
{
    va_list list;
    va_start(list, flags);
    int fd = open_really(path, flags, list);
    va_end(list);
    return fd;
}

int open64(const char *path, int flags, ...)
{
    va_list list;
    va_start(list, flags);
    int fd = open_really(path, flags, list);
    va_end(list);
    return fd;
}

FILE *fopen(const char *path, const char *mode) { REAL(FILE *, fopen, (const char *, const char *)) return fails(FOPEN) ? NULL : real(path, mode); }
FILE *fopen64(const char *path, const char *mode) { REAL(FILE *, fopen64, (const char *, const char *)) return fails(FOPEN) ? NULL : real(path, mode); }
FILE *fdopen(int fd, const char *mode) { REAL(FILE *, fdopen, (int, const char *)) return fails(FDOPEN) ? NULL : real(fd, mode); }
ssize_t read(int fd, void *to, size_t bytes) { return fails(READ) ? -1 : syscall(SYS_read, fd, to, bytes); }
ssize_t pread(int fd, void *to, size_t bytes, off_t from) { return fails(PREAD) ? -1 : syscall(SYS_pread64, fd, to, bytes, from); }
ssize_t pread64(int fd, void *to, size_t bytes, off_t from) { return fails(PREAD) ? -1 : syscall(SYS_pread64, fd, to, bytes, from); }
ssize_t write(int fd, const void *from, size_t bytes) { return fails(WRITE) ? -1 : syscall(SYS_write, fd, from, bytes); }
ssize_t send(int fd, const void *from, size_t bytes, int flags) { return fails(SEND) ? -1 : syscall(SYS_sendto, fd, from, bytes, flags, NULL, 0); }
int fsync(int fd) { return fails(FSYNC) ? -1 : (int)syscall(SYS_fsync, fd); }
int ftruncate(int fd, off_t bytes) { return fails(FTRUNCATE) ? -1 : (int)syscall(SYS_ftruncate, fd, bytes); }
int ftruncate64(int fd, off_t bytes) { return fails(FTRUNCATE) ? -1 : (int)syscall(SYS_ftruncate, fd, bytes); }
int rename(const char *old, const char *new) { REAL(int, rename, (const char *, const char *)) return fails(RENAME) ? -1 : real(old, new); }
int fstat(int fd, struct stat *st) { REAL(int, fstat, (int, struct stat *)) return fails(FSTAT) ? -1 : real(fd, st); }
int fstat64(int fd, struct stat64 *st) { REAL(int, fstat64, (int, struct stat64 *)) return fails(FSTAT) ? -1 : real(fd, st); }
int stat(const char *path, struct stat *st) { REAL(int, stat, (const char *, struct stat *)) return fails(STAT) ? -1 : real(path, st); }
int stat64(const char *path, struct stat64 *st) { REAL(int, stat64, (const char *, struct stat64 *)) return fails(STAT) ? -1 : real(path, st); }
char *mkdtemp(char *path) { REAL(char *, mkdtemp, (char *)) return fails(MKDTEMP) ? NULL : real(path); }
char *realpath(const char *path, char *to) { REAL(char *, realpath, (const char *, char *)) return fails(REALPATH) ? NULL : real(path, to); }

int scandir(const char *path, struct dirent ***list, int (*filter)(const struct dirent *), int (*order)(const struct dirent **, const struct dirent **))
{
    REAL(int, scandir, (const char *, struct dirent ***, int (*)(const struct dirent *), int (*)(const struct dirent **, const struct dirent **)))
    return fails(SCANDIR) ? -1 : real(path, list, filter, order);
}

int fcntl(int fd, int command, ...)
{
    REAL(int, fcntl, (int, int, ...))
    va_list list;
    va_start(list, command);
    void *argument = va_arg(list, void *);
    va_end(list);
    return fails(FCNTL) ? -1 : real(fd, command, argument);
}

/* processes */
int pipe2(int end[2], int flags) { REAL(int, pipe2, (int *, int)) return fails(PIPE2) ? -1 : real(end, flags); }
int socketpair(int domain, int type, int protocol, int end[2]) { REAL(int, socketpair, (int, int, int, int *)) return fails(SOCKETPAIR) ? -1 : real(domain, type, protocol, end); }
int memfd_create(const char *name, unsigned flags) { REAL(int, memfd_create, (const char *, unsigned)) return fails(MEMFD_CREATE) ? -1 : real(name, flags); }
int poll(struct pollfd *fds, nfds_t count, int timeout) { REAL(int, poll, (struct pollfd *, nfds_t, int)) return fails(POLL) ? -1 : real(fds, count, timeout); }
pid_t waitpid(pid_t pid, int *status, int options) { REAL(pid_t, waitpid, (pid_t, int *, int)) return fails(WAITPID) ? -1 : real(pid, status, options); }

int posix_spawn(pid_t *pid, const char *path, const posix_spawn_file_actions_t *actions, const posix_spawnattr_t *attributes,
                char *const argv[], char *const environment[])
{
    REAL(int, posix_spawn, (pid_t *, const char *, const posix_spawn_file_actions_t *, const posix_spawnattr_t *, char *const [], char *const []))
    return fails(POSIX_SPAWN) ? EAGAIN : real(pid, path, actions, attributes, argv, environment);
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*work)(void *), void *argument)
{
    REAL(int, pthread_create, (pthread_t *, const pthread_attr_t *, void *(*)(void *), void *))
    return fails(PTHREAD_CREATE) ? EAGAIN : real(thread, attributes, work, argument);
}
