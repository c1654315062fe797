/* SPDX-License-Identifier: Apache-2.0 */
/* A subcommand's arguments as they were typed, for the record and for repeating it. */
#ifndef OCHE_CLI_COMMAND_LINE_H
#define OCHE_CLI_COMMAND_LINE_H

/*
 * Returns "oche sweep s.yaml --vary 'recovery={name: go_back_n}'": words that a shell can read
 * (malloc'd).
 */
char *oche_command_line(int argc, char **argv);

#endif
