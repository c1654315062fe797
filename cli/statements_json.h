/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A paper's statements as JSON, for programs and for the report. docs/reproduce.md describes the
 * members.
 */
#ifndef OCHE_CLI_STATEMENTS_JSON_H
#define OCHE_CLI_STATEMENTS_JSON_H

#include "lab/reproduce/statements.h"

struct json_object;

/*
 * Adds statements, their verdicts and the counts to `paper`, by the verdicts of claims in
 * `results`. Without statements, adds an empty list.
 */
void oche_statements_json_add(struct json_object *paper,
                              const struct oche_paper_statements *statements,
                              const struct oche_results *results);

#endif
