/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A device's clock that the test moves. It is part of the device: if the device's memory is
 * restored to an earlier state (snapshot.h), so is its time.
 */
#ifndef OCHE_TESTS_SUPPORT_STILL_CLOCK_H
#define OCHE_TESTS_SUPPORT_STILL_CLOCK_H

#include "device/host/clock.h"

/* The time that each reading adds. Raise it if a program sleeps until the clock has moved. */
extern oche_time still_clock_look;

void still_clock_pass(struct oche_clock *clock, oche_time time);

#endif
