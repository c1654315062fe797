/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The subcommands of the program: one function each, in the file of its name. argv[0] is the
 * subcommand's name in messages and --help ("oche wire"). Each function returns the exit status: 0
 * for success, 1 if the answer is no, 2 for bad arguments or bad input.
 */
#ifndef OCHE_CLI_COMMANDS_H
#define OCHE_CLI_COMMANDS_H

int oche_cmd_buffers(int argc, char **argv);
int oche_cmd_check_nic(int argc, char **argv);
int oche_cmd_exec(int argc, char **argv);
int oche_cmd_export(int argc, char **argv);
int oche_cmd_fault(int argc, char **argv);
int oche_cmd_fluid(int argc, char **argv);
int oche_cmd_import(int argc, char **argv);
int oche_cmd_nic(int argc, char **argv);
int oche_cmd_report(int argc, char **argv);
int oche_cmd_run(int argc, char **argv);
int oche_cmd_reproduce(int argc, char **argv);
int oche_cmd_stat(int argc, char **argv);
int oche_cmd_sweep(int argc, char **argv);
int oche_cmd_wire(int argc, char **argv);

#endif
