/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds settings that do not fit the network they are in: a load that the links between switches
 * cannot carry, timers that are shorter than a round trip, thresholds that no queue can reach.
 */
#ifndef OCHE_LAB_MEASURES_UNFIT_H
#define OCHE_LAB_MEASURES_UNFIT_H

#include "sim/world/world.h"

#define OCHE_UNFIT_MOST 8

/* Remarks for the user, each one line without a full stop that begins with the section. */
struct oche_unfit {
    unsigned count;
    char text[OCHE_UNFIT_MOST][256];
};

/* May be called before or after the run. */
void oche_unfit_take(struct oche_unfit *unfit, const struct oche_world *world);

/* For the files of this folder. */
void __attribute__((format(printf, 2, 3)))
oche_unfit_say(struct oche_unfit *unfit, const char *format, ...);
/* unfit_buffers.c; `oche buffers --check`, too */
void oche_unfit_judge_buffers(struct oche_unfit *unfit, const struct oche_world *world);
/* unfit_receivers.c */
void oche_unfit_judge_receivers(struct oche_unfit *unfit, const struct oche_world *world);

#endif
