/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Numbers of claims as people read them: shares in per cent, differences between shares in points.
 */
#ifndef OCHE_LAB_REPRODUCE_WORDS_H
#define OCHE_LAB_REPRODUCE_WORDS_H

#include "lab/reproduce/claim.h"

#define OCHE_WORDS_BYTES 160

struct oche_words {
    char text[OCHE_WORDS_BYTES];
};

/* Returns a value in a metric's unit or "factor"; "never" for infinity, "–" for NAN. */
struct oche_words oche_value_words(double value, const char *unit);

/* Returns the measured number of a claim. */
struct oche_words oche_measured_words(const struct oche_study *study,
                                      const struct oche_claim *claim,
                                      const struct oche_judgement *judgement);

/* Returns "42.1 % to 44.3 %", with " *" if it is by bootstrap; "–" if there is no interval. */
struct oche_words oche_interval_words(const struct oche_study *study,
                                      const struct oche_claim *claim,
                                      const struct oche_judgement *judgement);

/* Returns what the paper says: its words, or its number. */
struct oche_words oche_published_words(const struct oche_study *study,
                                       const struct oche_claim *claim);

/* Returns "± 5 points; shape 15", "at most 5 %; shape 10 %", "ties 2 points; shape 5", … */
struct oche_words oche_tolerance_words(const struct oche_study *study,
                                       const struct oche_claim *claim);

#endif
