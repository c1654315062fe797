/* SPDX-License-Identifier: Apache-2.0 */
/* A device's links that lose packets. */
#ifndef OCHE_TESTS_SUPPORT_LOSING_H
#define OCHE_TESTS_SUPPORT_LOSING_H

#include "device/link/spec.h"

/*
 * Returns links that lose `ppm` packets in a million in each of the directions; valid until the
 * next call.
 */
static inline const struct oche_link_plan *losing(uint8_t directions, uint32_t ppm)
{
    static struct oche_link_plan plan;
    struct oche_error error;

    plan = (struct oche_link_plan){.rule_count = 0};
    OCHE_MUST(oche_link_plan_add_loss(&plan, directions, ppm, &error));
    return &plan;
}

#endif
