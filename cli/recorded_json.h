/* SPDX-License-Identifier: Apache-2.0 */
/* Verdicts that were recorded of all papers, for the report and for programs. */
#ifndef OCHE_CLI_RECORDED_JSON_H
#define OCHE_CLI_RECORDED_JSON_H

#include "lab/reproduce/statements.h"
#include "report/report.h"

/*
 * Makes the JSON that report/report.h describes, of the papers where oche reproduce finds them. If
 * there is no such folder there are none.
 */
oche_report_recorded oche_recorded_json;

/* Returns the entry of one paper; the caller owns it. */
struct json_object *oche_recorded_paper_json(const struct oche_paper *paper,
                                             const struct oche_results *results,
                                             const struct oche_paper_statements *statements);

#endif
