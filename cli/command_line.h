/* SPDX-License-Identifier: Apache-2.0 */
/* The command line of a subcommand as the user typed it, to record and repeat it. */
#ifndef OCHE_CLI_COMMAND_LINE_H
#define OCHE_CLI_COMMAND_LINE_H

/*
 * Returns the command line as words that a shell can read: "oche sweep s.yaml --vary
 * 'recovery={name: go_back_n}'" (malloc'd).
 */
char *oche_command_line(int argc, char **argv);

#endif
