/* SPDX-License-Identifier: Apache-2.0 */
/* Studies from texts, and runs made by hand, for the tests of figures and claims. */
#ifndef OCHE_TESTS_UNIT_LAB_REPRODUCE_MAKE_H
#define OCHE_TESTS_UNIT_LAB_REPRODUCE_MAKE_H

#include "lab/reproduce/claim.h"
#include "lab/reproduce/samples.h"
#include "lab/reproduce/study.h"

/*
 * A study with two axes, scheme (A, B, C) and loss (0, 1e-4, 1e-3, 1e-2), four repeats, and
 * quantities: speed (goodput), least and most of it, and share (timeouts over naks, pooled). `more`
 * is appended: claims, and anything else under test. The test fails if the study cannot be read.
 */
struct oche_study *make_study(const char *more);

/* The same, but the caller gives all of the text except title, place and scenario. */
struct oche_study *make_whole_study(const char *text, bool quick);

/* `metric` of the repeats (four, or as many as there are) at a scheme and loss, by their labels. */
void put_runs(struct oche_samples *samples, const struct oche_study *study, const char *metric,
              const char *scheme, const char *loss, const double *values);

/* All four repeats the same. */
void put_run(struct oche_samples *samples, const struct oche_study *study, const char *metric,
             const char *scheme, const char *loss, double value);

#endif
