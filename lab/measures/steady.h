/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs a world until the mean of a metric is known well enough: half of its 95 % interval, by batch
 * means (lab/measures/batch_means.h), is at most a given part of the mean. Batches begin at the end
 * of warm-up and last 10 of the longest round trips. The interval is computed at 20 batches and at
 * 30. At 40 every two become one, and so on. So the time between checks grows with the run, as in
 * Law and Carson's procedure (1979), and an interval that is narrow by chance is rarely accepted. A
 * batch must be at least as long as the mean flow time of a byte: until long flows are over, a run
 * seems steadier than it is. No batch lasts beyond the first stop of a workload whose flows a clock
 * starts, because later traffic differs. All of this follows from the scenario alone, and batches
 * end where windows of the engine end. So the run is the same for any number of threads, and equals
 * the start of the run without --until-stable.
 */
#ifndef OCHE_LAB_MEASURES_STEADY_H
#define OCHE_LAB_MEASURES_STEADY_H

#include "lab/measures/steady_result.h"
#include "params/error.h"
#include "sim/world/world.h"

#define OCHE_STEADY_WITHIN     0.05 /* unless it is given */
#define OCHE_STEADY_TEXT_BYTES 320

struct oche_steady;

/*
 * To be called before the world runs; then the run may end with OCHE_END_STABLE. Returns NULL, with
 * an error, if the metric cannot be judged in this world. The caller frees the result after the
 * run, with oche_steady_free, before or after the world; `metric` is copied.
 */
struct oche_steady *oche_steady_create(struct oche_world *world, const char *metric, double within,
                                       struct oche_error *error);
void oche_steady_free(struct oche_steady *steady);

/* After the run: evaluates the existing batches, if the run did not end because it was stable. */
void oche_steady_take(struct oche_steady *steady, struct oche_steady_result *result);

/* Returns the result of the last check; interval.batches is 0 before the first one. */
const struct oche_steady_result *oche_steady_last(const struct oche_steady *steady);

/* Writes "goodput 97.1Gbps ± 2.1 %, 20 batches of 84us", or why there is no interval. */
void oche_steady_text(const struct oche_steady_result *result, char *text, size_t text_bytes);
/*
 * Writes one line for a result that is not stable, without a full stop: the missing condition, and
 * the remedy.
 */
void oche_steady_complaint(const struct oche_steady_result *result, char *text, size_t text_bytes);

#endif
