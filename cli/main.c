/* SPDX-License-Identifier: Apache-2.0 */
/* The program: finds the subcommand and calls it. A subcommand is one file and one line here. */
#include <argp.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/refuse.h"
#include "cli/commands.h"
#include "cli/interrupted.h"
#include "cli/similar.h"
#include "core/base.h"

#define NAME_BYTES 64
#define REFUSED    2 /* the status of a command that has printed an error */

/* The kit for CI (ci/) has no simulator, to need no libraries. */
#ifdef OCHE_KIT
#define NOT_IN_KIT(run) NULL
#else
#define NOT_IN_KIT(run) run
#endif

static const struct command {
    const char *name;
    int (*run)(int argc, char **argv); /* NULL: not in this program */
    const char *help;
} commands[] = {
    {"report", NOT_IN_KIT(oche_cmd_report), "make a page of a run, a sweep or a reproduction"},
    {"run", NOT_IN_KIT(oche_cmd_run), "simulate a scenario, or several variants of one"},
    {"reproduce", NOT_IN_KIT(oche_cmd_reproduce),
     "run a paper's figures and judge its claims about them"},
    {"sweep", NOT_IN_KIT(oche_cmd_sweep), "run a grid of variants of a scenario, with many seeds"},
    {"fluid", NOT_IN_KIT(oche_cmd_fluid), "solve the fluid model of DCQCN or TIMELY"},
    {"buffers", NOT_IN_KIT(oche_cmd_buffers),
     "divide a switch's memory; check a scenario's switches"},
    {"import", NOT_IN_KIT(oche_cmd_import), "read files of other programs, and make scenarios"},
    {"export", NOT_IN_KIT(oche_cmd_export),
     "write a scenario's flows and network as files of another simulator"},
    {"nic", NOT_IN_KIT(oche_cmd_nic), "show what is known of real RDMA adapters"},
    {"check-nic", NOT_IN_KIT(oche_cmd_check_nic),
     "test how an adapter behaves, simulated or in a capture"},
    {"exec", oche_cmd_exec, "run a program on a user-space RDMA device"},
    {"fault", oche_cmd_fault, "make faults in the running programs of `oche exec`"},
    {"stat", oche_cmd_stat, "show the running programs of `oche exec`: rates, losses, marks"},
    {"wire", NOT_IN_KIT(oche_cmd_wire), "judge and list the RoCEv2 packets of a capture"},
};
#define COMMANDS OCHE_COUNT_OF(commands)

/* The command line, for oche_panic. */
static char **arguments;
/* The command's status; 0: it has not ended, or argp has ended the program. */
static int ended_with;

/*
 * Reports a broken invariant of core, fabric or sim, which is a bug. Prints the command line that
 * repeats the bug. Lack of memory is not a bug.
 */
/*
 * Returns in the first thread that calls it. Other threads that fail at the same time wait here
 * until the first one has printed its line and ended the process.
 */
static void be_the_first(void)
{
    static atomic_flag ending = ATOMIC_FLAG_INIT;
    static _Thread_local bool is_first;

    while (!is_first && atomic_flag_test_and_set(&ending))
        pause();
    is_first = true;
}

void oche_panic(const char *file, int line, const char *what)
{
    be_the_first();
    oche_remove_unfinished();
    fflush(stdout);
    if (strncmp(what, OCHE_OUT_OF_MEMORY, strlen(OCHE_OUT_OF_MEMORY)) == 0) {
        fprintf(stderr, "oche: %s\n", what);
        _exit(2);
    }
    fprintf(stderr, "oche: %s:%d: broken invariant: %s\n", file, line, what);
    fprintf(stderr, "oche: this is a bug; to repeat it:");
    for (char **argument = arguments; argument != NULL && *argument != NULL; argument++)
        fprintf(stderr, " '%s'", *argument);
    fputc('\n', stderr);
    abort();
}

static void print_help(FILE *to)
{
    fputs("Usage: oche COMMAND [ARGUMENT…]\n\n", to);
    for (size_t i = 0; i < COMMANDS; i++) {
        if (commands[i].run != NULL)
            fprintf(to, "  %-10s %s\n", commands[i].name, commands[i].help);
    }
    fputs("\noche COMMAND --help says more about a command; oche --version prints the version.\n",
          to);
}

/*
 * Runs a subcommand. Its argv is a copy whose first word is "oche NAME", since oche_panic shows the
 * original. argv[argc] is NULL.
 */
static int run(const struct command *command, int argc, char **argv)
{
    char name[NAME_BYTES];
    char **own = malloc(((size_t)argc + 1) * sizeof(*own));
    int status;

    OCHE_GOT(own != NULL);
    memcpy(own, argv, ((size_t)argc + 1) * sizeof(*own));
    snprintf(name, sizeof(name), "oche %s", command->name);
    own[0] = name;
    status = command->run(argc, own);
    free(own);
    return status;
}

/*
 * A command whose output could not be written (a full disk) has failed, even if all else succeeded.
 */
static void check_output(void)
{
    const bool failed = ferror(stdout) != 0;

    if ((fflush(stdout) == 0 && !failed) || ended_with == REFUSED)
        return;
    fputs("standard output: cannot be written\n", stderr);
    _exit(REFUSED);
}

int main(int argc, char **argv)
{
    arguments = argv;
    /*
     * Whole lines, so a message to standard error is never inside an output line in a common pipe.
     */
    setvbuf(stdout, NULL, _IOLBF, BUFSIZ);
    atexit(check_output);
    argp_err_exit_status = 2;
    if (argc < 2) {
        print_help(stderr);
        return 2;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "help") == 0) {
        print_help(stdout);
        return 0;
    }
    if (strcmp(argv[1], "--version") == 0) {
        puts("oche " OCHE_VERSION);
        return 0;
    }
    for (size_t i = 0; i < COMMANDS; i++) {
        if (strcmp(argv[1], commands[i].name) != 0)
            continue;
        if (commands[i].run == NULL) {
            oche_print_error("oche: %s: not in the kit for CI; the whole of oche has it",
                             commands[i].name);
            return REFUSED;
        }
        return ended_with = run(&commands[i], argc - 1, argv + 1);
    }
    const char *names[COMMANDS];

    for (size_t i = 0; i < COMMANDS; i++)
        names[i] = commands[i].name;
    const char *meant = oche_similar_word(argv[1], names, COMMANDS);

    if (meant != NULL)
        oche_print_error("oche: %s: no such command; did you mean \"%s\"? oche --help lists them",
                         argv[1], meant);
    else
        oche_print_error("oche: %s: no such command; oche --help lists them", argv[1]);
    return 2;
}
