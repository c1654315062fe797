/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What Dart's shares and look-ahead came to (Dart sec III; REFERENCE D8), all hosts together, after
 * warm-up, as lab/measures/metrics.c names it and says what it is. NAN where the scheme is another
 * one.
 */
#ifndef OCHE_LAB_MEASURES_DART_METRICS_H
#define OCHE_LAB_MEASURES_DART_METRICS_H

#include "lab/measures/outcome.h"

double oche_dart_updates(const struct oche_outcome *o, unsigned which);
double oche_dart_updates_of_packets(const struct oche_outcome *o, unsigned which);
double oche_dart_updates_of_bytes(const struct oche_outcome *o, unsigned which);
double oche_dart_acks(const struct oche_outcome *o, unsigned which);
double oche_dart_acks_of_packets(const struct oche_outcome *o, unsigned which);
double oche_dart_acks_of_bytes(const struct oche_outcome *o, unsigned which);
double oche_dart_groups(const struct oche_outcome *o, unsigned which);
double oche_dart_not_come(const struct oche_outcome *o, unsigned which);
double oche_dart_void_groups(const struct oche_outcome *o, unsigned which);

#endif
