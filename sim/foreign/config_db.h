/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SONiC's CONFIG_DB (config_db.json): an object of tables, whose rows have values that are texts.
 * JSON is YAML, and so the reader of scenarios reads it, which knows the line of each value.
 * Marking, the buffer, PFC and its watchdog become settings of a scenario's switches, as the
 * lossless priorities of most ports have them; a small network and a workload make it a scenario
 * that runs.
 */
#ifndef OCHE_SIM_FOREIGN_CONFIG_DB_H
#define OCHE_SIM_FOREIGN_CONFIG_DB_H

#include "params/error.h"
#include "sim/foreign/translation.h"
#include "sim/scenario/document.h"

/* True if the file has a table that is read: WRED_PROFILE, BUFFER_PROFILE and so on. */
bool oche_config_db_is_one(const struct oche_document *document);

/*
 * Adds settings and notes. Returns false, with "NAME:LINE: TABLE.ROW.FIELD: …", if a value is
 * wrong. The translation is to be freed in any case.
 */
bool oche_config_db_translate(const struct oche_document *document,
                              struct oche_translation *translation, struct oche_error *error);

#endif
