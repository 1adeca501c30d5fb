/* SPDX-License-Identifier: MIT */
/* Other processes: to start, to hear of, to end. */
#ifndef QKVEC_HOST_PROCESS_H
#define QKVEC_HOST_PROCESS_H

#include <stddef.h>
#include <sys/types.h>

/* Execute program, found by its path, in a process group of its own (group 1)
 * or in ours (0); its descriptors 0 to count-1 are fd[]. 0, or errno. */
int process_start(pid_t *pid, const char *program, char *const argv[], const int *fd, int count, int group);

/* Kill the process and its group; the status that waitpid() gives. */
int process_end(pid_t pid);

/* Wait for the end of a process that seems to be ending by itself, and kill it
 * after five seconds if it is not (then 0). *status is what waitpid() gives. */
int process_wait(pid_t pid, int *status);

/* Has this child ended? It is not waited for yet. */
int process_has_ended(pid_t pid);

/* "SIGSEGV", "exit status 3" */
const char *process_fate(char text[64], int status);
const char *process_signal_name(int signal);

/* How many processes of this one's control group the system has killed because
 * memory ran out; -1 if that is not known. */
long process_memory_kills(void);

/* "oom_kill 3" in the text of memory.events: 3; -1 without such a line. */
long process_count_kills(const char *events);

/* A descriptor out of the way of the low ones that a child gets, closed on
 * exec. Takes fd over; -1 stays -1. */
int process_lift(int fd);

/* Both ends lifted; 0, or errno. The stream kind connects both ways. */
int process_pipe(int end[2]);
int process_socket(int end[2]);

/* From now on what would have to wait fails with EAGAIN instead. For our ends of
 * what foreign code holds the other one of: "readable" is no promise that a read
 * returns, where a child can open the other end of its pipe and read it empty. */
void process_unblock(int fd);

/* A file without a name in memory, read-only by the second descriptor. 0, or
 * errno. As long as it is in /proc a child can open it to write all the same.
 * lasting: nobody can shorten it, not even we, where the system has such files;
 * what is mapped of it cannot give a SIGBUS then. */
int process_memory(int fd[2], int lasting);

/* The contents from there on are no longer needed: memory for the system, where it takes it. */
void process_forget(int fd, size_t from);

/* All of it, or 0 and errno (with a dead partner: 0 too, without a signal).
 * process_receive() waits for ever: for the worker alone. */
int process_send(int socket, const void *data, size_t bytes);
int process_receive(int socket, void *data, size_t bytes);

double process_clock(void);    /* seconds, monotonic */

/* Output of a child that is heard while it works, shown up to a bound. */
struct child_output { int fd; size_t shown, heard; };
#define CHILD_OUTPUT_SHOWN ((size_t)16 << 10)      /* bytes of a run that go to our standard error */
#define CHILD_OUTPUT_LIMIT ((size_t)64 << 20)      /* of a case: more than that is a fault */

enum awaited { AWAITED, AWAITED_END, AWAITED_TIMEOUT, AWAITED_STOP, AWAITED_TOO_MUCH, AWAITED_FAILED };    /* it came; it will not; the deadline passed; *stop; too much output; errno: waiting failed */

/* Wait for fd to be readable (or at its end: AWAITED too) while reading the output
 * of the child. A child that has ended is AWAITED_END, even if a process that it
 * left behind holds the other end of fd. */
enum awaited process_await(int fd, pid_t child, struct child_output *child_output, double deadline, int (*stopped)(const void *), const void *context);

/* Read all of it, in as many pieces as the other side likes. fd is unblocked. */
enum awaited process_await_all(int fd, pid_t child, void *data, size_t bytes, struct child_output *child_output, double deadline,
                               int (*stopped)(const void *), const void *context);

#endif
