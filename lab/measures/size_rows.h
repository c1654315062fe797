/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Measures by flow size: beside the ranges, each size by itself where flows have a few (Dart sec
 * VI: 2, 4 and 8 KB); and of the packets that arrived how many were marked.
 */
#ifndef OCHE_LAB_MEASURES_SIZE_ROWS_H
#define OCHE_LAB_MEASURES_SIZE_ROWS_H

#include "lab/measures/outcome.h"

/* Fills the rows from OCHE_OUTCOME_EXACT on if flows have 2 … OCHE_OUTCOME_MOST_EXACT sizes. */
void oche_size_rows_exact(struct oche_outcome *outcome, const struct oche_flow_record *records,
                          uint32_t count, oche_time warmup);

/* Fills size_packets, of flows that started after warm-up, where that was noted. After the rows. */
void oche_size_rows_packets(struct oche_outcome *outcome, const struct oche_world *world);

/* As metrics call the row: "10KB_to_100KB", "all", "of_8KB"; "": there is no such row. */
const char *oche_size_row_name(const struct oche_outcome *outcome, unsigned which, char *text,
                               size_t text_bytes);
/* Whether some run can have a row of that name for one size. */
bool oche_size_row_may_be(const char *name, size_t length);

#endif
