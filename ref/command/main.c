/* SPDX-License-Identifier: MIT */
/* POSIX: a closed pipe is an error to report, not a signal to die of. */
#define _POSIX_C_SOURCE 200809L

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "../host/host.h"
#include "../report/report.h"
#include "command.h"

static const struct command {
    const char *name, *summary;
    int (*run)(int argc, char **argv);
} commands[] = {
    { "list", "the vectors: name, sizes, what is special about each", command_list },
    { "show", "a vector's configuration and numbers", command_show },
    { "step", "walk the stages one by one, in the terminal", command_step },
    { "run", "interpret a vector: every stage, written or printed", command_run },
    { "check", "judge results against the vectors", command_check },
    { "fuzz", "judge a kernel by random cases, and make a failing one small", command_fuzz },
    { "split", "q, k, v out of a checkpoint of torch.save(), .safetensors or .npz", command_split },
    { "order", "prove in which order a weight holds q, k and v", command_order },
    { "export", "a vector as a C header, or vectors as ONNX models", command_export },
};
#define COMMANDS (sizeof commands / sizeof *commands)

static int help(void)
{
    puts("usage: qkvec COMMAND [OPTION...] [ARGUMENT...]\n\n"
         "Does my kernel compute what torch.nn.MultiheadAttention computes?\n");
    for (size_t k = 0; k < COMMANDS; k++)
        printf("  %-8s %s\n", commands[k].name, commands[k].summary);
    puts("\n"
         "  qkvec COMMAND --help    options and examples\n"
         "  qkvec --version         versions of the program and of the vectors\n\n"
         "Exit status: 0 conformant, 1 not conformant, 2 could not judge.");
    return 0;
}

static int version(void)
{
    struct corpus corpus;
    const char *wrong = corpus_open(&corpus, NULL);

    printf("qkvec %s\n", qkvec_version);
    if (wrong) {
        puts("corpus none found");
        return 0;
    }
    printf("corpus %s, %zu vectors, sha256 %s\n", corpus.version, corpus.count, corpus.hash);
    corpus_close(&corpus);
    return 0;
}

static int dispatch(int argc, char **argv)
{
    if (argc < 2) {
        complain("usage", "qkvec COMMAND [OPTION...] [ARGUMENT...]; see qkvec --help");
        return NOT_JUDGED;
    }
    if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") || !strcmp(argv[1], "help"))
        return help();
    if (!strcmp(argv[1], "--version"))
        return version();
    if (!strcmp(argv[1], "host-worker"))    /* this program, executed by itself */
        return host_worker(argc - 2, argv + 2);
    if (!strcmp(argv[1], "host-supervisor"))
        return host_supervisor(argc - 2, argv + 2);
    for (size_t k = 0; k < COMMANDS; k++)
        if (!strcmp(argv[1], commands[k].name))
            return commands[k].run(argc - 2, argv + 2);
    return complain(argv[1], "no such command; see qkvec --help");
}

int main(int argc, char **argv)
{
    int status;

    memory_keep();
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);    /* nor is a limit on the size of files */
    status = dispatch(argc, argv);
    errno = 0;
    if (fflush(stdout) | ferror(stdout))    /* a report that nobody could read is none */
        return complain("standard output", "cannot be written: %s", errno ? strerror(errno) : "an earlier write failed");
    return status;
}
