/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The subcommands of the program: one function each, in the file of its name. argv[0] is its name
 * in messages and --help ("oche wire"). Each returns the exit status: 0 success, 1 the answer is
 * no, 2 bad arguments or bad input.
 */
#ifndef OCHE_CLI_COMMANDS_H
#define OCHE_CLI_COMMANDS_H

int oche_cmd_buffers(int argc, char **argv);
int oche_cmd_exec(int argc, char **argv);
int oche_cmd_fluid(int argc, char **argv);
int oche_cmd_report(int argc, char **argv);
int oche_cmd_run(int argc, char **argv);
int oche_cmd_reproduce(int argc, char **argv);
int oche_cmd_sweep(int argc, char **argv);
int oche_cmd_wire(int argc, char **argv);

#endif
