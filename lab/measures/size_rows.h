/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Further measures by flow size, beside those by range of sizes: each size by itself if flows have
 * few different sizes (Dart sec VI: 2, 4 and 8 KB), and how many of the packets that arrived were
 * marked, and of these, how many had a mark that the receiver did not suppress.
 */
#ifndef OCHE_LAB_MEASURES_SIZE_ROWS_H
#define OCHE_LAB_MEASURES_SIZE_ROWS_H

#include "lab/measures/outcome.h"

/*
 * Fills the rows from OCHE_OUTCOME_EXACT on if flows have between 2 and OCHE_OUTCOME_MOST_EXACT
 * different sizes.
 */
void oche_size_rows_exact(struct oche_outcome *outcome, const struct oche_flow_record *records,
                          uint32_t count, oche_time warmup);

/*
 * Fills size_packets for flows that started after warm-up, if packets by flow were recorded. Must
 * be called after the rows are filled.
 */
void oche_size_rows_packets(struct oche_outcome *outcome, const struct oche_world *world);

/*
 * Returns a row's name as used in metrics, such as "10KB_to_100KB", "all" or "of_8KB"; "" if there
 * is no such row.
 */
const char *oche_size_row_name(const struct oche_outcome *outcome, unsigned which, char *text,
                               size_t text_bytes);
/* True if a run can have a row of this name for a single size. The name has `length` bytes. */
bool oche_size_row_may_be(const char *name, size_t length);

#endif
