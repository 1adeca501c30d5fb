/* SPDX-License-Identifier: MIT */
/*
 * The process that a kernel lives in: "SELF host-worker PARENT SCOPE MEMORY LIBRARY".
 *
 * It maps what it is told to map, calls the kernel, and says what came back.
 * It judges nothing, so that nothing a kernel does to it can spoil a verdict.
 */
#define _GNU_SOURCE    /* MAP_ANONYMOUS, madvise, dlopen's neighbours */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif

#include "host.h"
#include "process.h"
#include "protocol.h"

static const char *const symbols[] = { [SCOPE_LAYER] = "qkvec_kernel", [SCOPE_CORE] = "qkvec_attention_core" };

/* Not to outlive the parent, and to be the first to go when memory ends. */
static int settle(pid_t parent, size_t memory)
{
    int score;

#ifdef __linux__
    prctl(PR_SET_PDEATHSIG, SIGKILL);
#endif
    if (getppid() != parent)
        return 0;
    setrlimit(RLIMIT_CORE, &(struct rlimit){ 0, 0 });
    if (memory)
        setrlimit(RLIMIT_AS, &(struct rlimit){ (rlim_t)memory, (rlim_t)memory });
    if ((score = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC)) >= 0) {
        if (write(score, "1000", 4) != 4)
            errno = 0;    /* then the system chooses by itself */
        close(score);
    }
    return 1;
}

static call_kernel *load(struct protocol_started *started, const char *library, enum scope scope)
{
    char beside[4096];
    call_kernel *kernel = NULL;
    void *symbol;

    /* dlopen() looks for a name without a slash in the system's folders only. */
    if (!strchr(library, '/') && !access(library, F_OK) && strlen(library) + 3 <= sizeof beside) {
        snprintf(beside, sizeof beside, "./%s", library);
        library = beside;
    }
    void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    if (!handle) {
        snprintf(started->error, sizeof started->error, "cannot be loaded: %s", dlerror());
    } else if ((symbol = dlsym(handle, symbols[scope]))) {
        memcpy(&kernel, &symbol, sizeof kernel);    /* POSIX: a function has such an address */
        started->ok = 1;
    } else if (dlsym(handle, symbols[!scope])) {
        snprintf(started->error, sizeof started->error, "exports %s only: check it %s --core", symbols[!scope],
                 scope == SCOPE_CORE ? "without" : "with");
    } else {
        snprintf(started->error, sizeof started->error, "exports neither qkvec_kernel nor qkvec_attention_core (in C++ they need extern \"C\")");
    }
    return kernel;
}

/* ---- memory ---- */

/* A part of a file of which no page can be reached yet. */
static char *unreachable(int fd, off_t from, size_t bytes)
{
    char *base = mmap(NULL, bytes, PROT_NONE, fd < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED, fd, from);

    return base == MAP_FAILED ? NULL : base;
}

static int open_slots(char *base, const struct call_slot *slot, int count, int protection)
{
    for (int k = 0; k < count; k++)
        if (slot[k].past > slot[k].first && mprotect(base + slot[k].first, slot[k].past - slot[k].first, protection))
            return 0;
    return 1;
}

/* Everything unreachable but the slots. */
static char *map(int fd, off_t from, size_t bytes, const struct call_slot *slot, int count, int protection)
{
    char *base = unreachable(fd, from, bytes);

    if (base && !open_slots(base, slot, count, protection)) {
        munmap(base, bytes);
        return NULL;
    }
    return base;
}

#if defined(__linux__) && !defined(MADV_GUARD_INSTALL)
#define MADV_GUARD_INSTALL 102
#endif

/* A page that stays unreachable in the midst of others that are not; newer
 * systems have such. An emulator may say so and not do it: then the system
 * reads a file's name there. */
static int guard_page(char *at, size_t page)
{
#ifdef MADV_GUARD_INSTALL
    return !madvise(at, page, MADV_GUARD_INSTALL) && access(at, F_OK) && errno == EFAULT;
#else
    (void)at, (void)page;
    return 0;
#endif
}

/* With guard pages as gaps one call opens all slots, where it takes one for each
 * otherwise. Then a gap is at least no part of the file, as those at both ends
 * are always, or the system would split the block there for every case and join
 * it again, which takes it long. */
static void map_block(struct block *block, int fd, off_t from, size_t bytes, size_t page, int (*is_gap)(size_t page_number))
{
    if (block->at || !(block->at = unreachable(fd, from, bytes)))
        return;
    int mapped = !mprotect(block->at, bytes, PROT_READ);
    size_t last = bytes / page - 1;
    block->gaps = 1;
    for (size_t k = 0; mapped && k <= last; k++)
        if (is_gap(k) && (k == 0 || k == last || !guard_page(block->at + k * page, page))) {
            block->gaps = block->gaps && (k == 0 || k == last);
            mapped = mmap(block->at + k * page, page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != MAP_FAILED;
        }
    if (!mapped || mprotect(block->at, bytes, PROT_NONE)) {
        munmap(block->at, bytes);
        block->at = NULL;
    }
}

static int open_block(const struct block *block, const struct call_slot *slot, int count, int protection)
{
    size_t first = SIZE_MAX, past = 0;

    if (!block->at || !block->gaps)
        return block->at && open_slots(block->at, slot, count, protection);
    for (int k = 0; k < count; k++)
        if (slot[k].past > slot[k].first) {
            first = slot[k].first < first ? slot[k].first : first;
            past = slot[k].past > past ? slot[k].past : past;
        }
    return past <= first || !mprotect(block->at + first, past - first, protection);
}

/* A kernel that unmaps what is not its own leaves a hole: then the block is mapped anew. */
static void close_block(struct block *block, size_t bytes)
{
    if (block->at && mprotect(block->at, bytes, PROT_NONE)) {
        munmap(block->at, bytes);
        block->at = NULL;
    }
}

/* The reason ends where its page does, so that a longer one is noticed. */
static char *map_message(size_t page)
{
    char *base = unreachable(-1, 0, 3 * page);

    return !base || mprotect(base + page, page, PROT_READ | PROT_WRITE) ? NULL : base;
}

/* Out of use, but not free for the next case yet. */
static void bury(struct guard *guard, char *base, size_t bytes)
{
    struct quarantined *quarantined = &guard->quarantined[guard->quarantined_so_far++ % QUARANTINED];

    if (!base)
        return;
    if (quarantined->at)
        munmap(quarantined->at, quarantined->bytes);
    *quarantined = (struct quarantined){ base, bytes };
    if (mmap(base, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED) {
        munmap(base, bytes);
        quarantined->at = NULL;
    }
}

/* ---- the arrays of a case: guard->in and guard->out, or NULL ---- */

static void arrays_open(struct guard *guard, const struct protocol_request *request)
{
    const struct call_plan *plan = &request->plan;
    struct ring_slot *ring_slot = &guard->ring_slot[request->ring_slot];
    off_t in = (off_t)(guard->ring_slot_in * (size_t)(plan->small ? request->ring_slot : RING_SLOTS));
    off_t out = (off_t)(guard->page + guard->ring_slot_out * (size_t)(plan->small ? request->ring_slot : RING_SLOTS));

    if (!plan->small) {
        guard->in = map(PROTOCOL_INPUTS, in, plan->in_bytes, plan->in, CALL_INPUTS, PROT_READ);
        guard->out = map(PROTOCOL_OUTPUTS, out, plan->out_bytes, plan->out, CALL_OUTPUTS, PROT_READ | PROT_WRITE);
        return;
    }
    map_block(&ring_slot->in, PROTOCOL_INPUTS, in, guard->ring_slot_in, guard->page, call_input_gap);
    map_block(&ring_slot->out, PROTOCOL_OUTPUTS, out, guard->ring_slot_out, guard->page, call_output_gap);
    if (open_block(&ring_slot->in, plan->in, CALL_INPUTS, PROT_READ))
        guard->in = ring_slot->in.at;
    if (open_block(&ring_slot->out, plan->out, CALL_OUTPUTS, PROT_READ | PROT_WRITE))
        guard->out = ring_slot->out.at;
}

static void arrays_close(struct guard *guard, const struct protocol_request *request)
{
    struct ring_slot *ring_slot = &guard->ring_slot[request->ring_slot];

    if (request->plan.small) {
        close_block(&ring_slot->in, guard->ring_slot_in);
        close_block(&ring_slot->out, guard->ring_slot_out);
    } else {
        bury(guard, guard->in, request->plan.in_bytes);
        bury(guard, guard->out, request->plan.out_bytes);
    }
    guard->in = guard->out = NULL;
}

/* ---- a case ---- */

static void run(struct protocol_reply *reply, const struct protocol_request *request, struct guard *guard, call_kernel *kernel)
{
    const struct call_plan *plan = &request->plan;
    char *reason = guard->message + 2 * guard->page - QKVEC_REASON;
    uint32_t *written = (uint32_t *)(void *)(guard->message + guard->page);
    struct qkvec_call call;

    arrays_open(guard, request);
    if (guard->in && guard->out) {
        call_blank(guard->out, plan, request->pass);
        memset(reason, 0, QKVEC_REASON);
        *written = 0;
        call_bind(&call, plan, guard->in, guard->out, written, reason);
        guard_watch(guard);
        reply->returned = kernel(&call);
        reply->written = *written;
        memcpy(reply->reason, reason, QKVEC_REASON);
        if (plan->small) {
            reply->in = call_sum(guard->in, plan->in, CALL_INPUTS);
            reply->out = call_sum(guard->out, plan->out, CALL_OUTPUTS);
        }
    } else {
        reply->failed = errno ? errno : ENOMEM;
    }
    arrays_close(guard, request);
}

int host_worker(int argc, char **argv)
{
    struct protocol_started started = { 0 };
    struct protocol_request request;
    struct guard guard = { .page = (size_t)sysconf(_SC_PAGESIZE), .plan = &request.plan, .stack = (char *)&guard };
    struct rlimit stack;
    call_kernel *kernel;

    if (argc != 4 || !settle((pid_t)atol(argv[0]), (size_t)strtoull(argv[2], NULL, 10)))
        return 2;
    for (int fd = PROTOCOL_SOCKET; fd < PROTOCOL_FDS; fd++)
        fcntl(fd, F_SETFD, FD_CLOEXEC);
    if (getrlimit(RLIMIT_STACK, &stack) || stack.rlim_cur == RLIM_INFINITY)
        stack.rlim_cur = 0;
    guard.ring_slot_in = CALL_SMALL_INPUTS * guard.page;
    guard.ring_slot_out = CALL_SMALL_OUTPUTS * guard.page;
    guard.stack_limit = guard.stack - stack.rlim_cur - 16 * guard.page;
    guard.fault = mmap(NULL, guard.page, PROT_READ | PROT_WRITE, MAP_SHARED, PROTOCOL_OUTPUTS, 0);
    guard.message = map_message(guard.page);
    if (guard.fault == MAP_FAILED || !guard.message)
        return 2;

    kernel = load(&started, argv[3], atoi(argv[1]) ? SCOPE_CORE : SCOPE_LAYER);
    if (!process_send(PROTOCOL_SOCKET, &started, sizeof started))
        return 2;
    while (kernel && process_receive(PROTOCOL_SOCKET, &request, sizeof request)) {
        struct protocol_reply reply = { .number = request.number };
        run(&reply, &request, &guard, kernel);
        if (!process_send(PROTOCOL_SOCKET, &reply, sizeof reply)) {
            guard.fault->kind = FAULT_FDS_CLOSED;
            break;
        }
    }
    _exit(0);    /* without what the kernel left to be done at exit */
}
