/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A device's clock that the test moves. It is a part of the device: where the device's memory is
 * put back to an earlier state (snapshot.h), so is its time.
 */
#ifndef OCHE_TESTS_SUPPORT_STILL_CLOCK_H
#define OCHE_TESTS_SUPPORT_STILL_CLOCK_H

#include "device/host/clock.h"

/* What passes with each look. To be raised where a program sleeps until the clock has moved. */
extern oche_time still_clock_look;

void still_clock_pass(struct oche_clock *clock, oche_time time);

#endif
