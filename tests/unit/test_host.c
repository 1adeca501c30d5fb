/* SPDX-License-Identifier: MIT */
/* What foreign code says: not waited for too long, and not believed. */
#define _POSIX_C_SOURCE 200809L

#include "host/adapter.h"
#include "host/process.h"
#include "host/program.h"

#include <criterion/criterion.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* The status of a process that a signal ends; 0: that ends by itself. */
static int status_of(int signal)
{
    int status = 0;
    pid_t child = fork();

    if (!child && signal)
        raise(signal);
    if (!child)
        _exit(0);
    waitpid(child, &status, 0);
    return status;
}

static void expect(int died_of, int killed, struct protocol_fault fault, const char *want)
{
    struct result result = { 0 };

    host_tell_death(&result, status_of(died_of), killed, &fault);
    cr_assert_eq(result.outcome, OUTCOME_CRASH);
    cr_assert_str_eq(result.reason, want);
}

Test(host, a_sound_fault_is_told)
{
    struct protocol_fault f = { SIGTERM, FAULT_INPUT, FAULT_BEFORE, FAULT_READ, CALL_V_HEADS, 4 };

    expect(SIGTERM, 0, f, "SIGTERM: read 4 bytes in front of v_heads");
    f.kind = FAULT_OUTPUT, f.slot = CALL_HEAD_OUTPUTS, f.place = FAULT_BEHIND, f.access = FAULT_WROTE;
    expect(SIGTERM, 0, f, "SIGTERM: wrote behind the end of head_outputs, 4 bytes from it");
}

Test(host, numbers_out_of_range_are_not_told)
{
    const struct protocol_fault sound = { SIGTERM, FAULT_INPUT, FAULT_BEHIND, FAULT_WROTE, CALL_QUERY, 4 };
    static const int wild[] = { -1, INT_MIN, INT_MAX, 1000000 };

    for (size_t k = 0; k < sizeof wild / sizeof *wild; k++) {
        struct protocol_fault f[4] = { sound, sound, sound, sound };
        memcpy(&f[0].kind, &wild[k], sizeof f[0].kind);
        memcpy(&f[1].place, &wild[k], sizeof f[1].place);
        memcpy(&f[2].access, &wild[k], sizeof f[2].access);
        memcpy(&f[3].slot, &wild[k], sizeof f[3].slot);
        for (int field = 0; field < 4; field++)
            expect(SIGTERM, 0, f[field], "SIGTERM");
    }
    struct protocol_fault f = sound;
    f.slot = CALL_INPUTS;
    expect(SIGTERM, 0, f, "SIGTERM");
    f.kind = FAULT_OUTPUT, f.slot = CALL_OUTPUTS;
    expect(SIGTERM, 0, f, "SIGTERM");
}

Test(host, the_system_knows_better_how_it_ended)
{
    struct protocol_fault f = { SIGSEGV, FAULT_INPUT, FAULT_INSIDE, FAULT_WROTE, CALL_QUERY, 0 };

    expect(SIGTERM, 0, f, "SIGTERM");
    expect(0, 0, f, "the kernel ended the process: exit status 0");
    expect(SIGKILL, 0, f, "SIGKILL");
    expect(SIGKILL, 1, f, "the kernel closed descriptors that are not its own, or executed another program");
    f.kind = FAULT_FDS_CLOSED;
    expect(0, 0, f, "the kernel closed descriptors that are not its own");
    expect(SIGTERM, 0, f, "SIGTERM");
}

static int never(const void *context)
{
    (void)context;
    return 0;
}

static int at_once(const void *context)
{
    (void)context;
    return 1;
}

Test(host, an_answer_in_part_is_none, .timeout = 20)
{
    int pair[2];
    char text[4] = "";

    cr_assert_eq(process_socket(pair), 0);
    process_unblock(pair[0]);
    cr_assert(process_send(pair[1], "ab", 2));
    cr_assert_eq(process_await_all(pair[0], 0, text, 3, NULL, process_clock() + 0.2, never, NULL), AWAITED_TIMEOUT);
    cr_assert_eq(process_await_all(pair[0], 0, text, 3, NULL, process_clock() + 60, at_once, NULL), AWAITED_STOP);
    cr_assert(process_send(pair[1], "abcd", 4));
    cr_assert_eq(process_await_all(pair[0], 0, text, 3, NULL, process_clock() + 60, never, NULL), AWAITED);
    cr_assert_str_eq(text, "abc");
    close(pair[1]);
    cr_assert_eq(process_await_all(pair[0], 0, text, 3, NULL, process_clock() + 60, never, NULL), AWAITED_END);
    close(pair[0]);
}

Test(host, a_command_that_reads_nothing_is_not_waited_for, .timeout = 20)
{
    struct program p = { .requests = -1 };
    char line[2001];
    int in[2];

    memset(line, 'x', sizeof line - 1);
    line[sizeof line - 1] = 0;
    cr_assert_eq(process_pipe(in), 0);
    p.requests = in[1];
    process_unblock(p.requests);
    for (int k = 0; k < 1000; k++)    /* more than a pipe holds */
        program_tell(&p, line);
}

Test(host, out_of_memory_kills_are_counted)
{
    cr_assert_eq(process_count_kills("low 0\nhigh 0\nmax 7\noom 2\noom_kill 3\noom_group_kill 0\n"), 3);
    cr_assert_eq(process_count_kills("oom_kill_disable 0\nunder_oom 0\noom_kill 12\n"), 12);
    cr_assert_eq(process_count_kills("oom_kill_disable 0\n"), -1);
    cr_assert_eq(process_count_kills(""), -1);
}
