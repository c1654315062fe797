/* SPDX-License-Identifier: Apache-2.0 */
/* Verdicts that were recorded of all papers, for the report. */
#ifndef OCHE_CLI_RECORDED_JSON_H
#define OCHE_CLI_RECORDED_JSON_H

#include "report/report.h"

/*
 * Makes the JSON that report/report.h describes, of the papers where oche reproduce finds them. If
 * there is no such folder there are none.
 */
oche_report_recorded oche_recorded_json;

#endif
