/* SPDX-License-Identifier: Apache-2.0 */
/* Decides whether threads run windows together: by the number of events, or by trial. */
#include "sim/network/pace.h"

#define LOOK_EVENTS      512 /* between looks at the clock there are so many events, */
#define LOOK_WINDOWS     64  /* or so many windows */
#define TRIAL_NS         UINT64_C(1000000)
#define FIRST_SETTLED_NS UINT64_C(10000000)
#define LAST_SETTLED_NS  UINT64_C(200000000)
#define BETTER           1.02 /* a way is better if it is so many times as fast */

static void begin(struct oche_pace *pace, enum oche_pace_state state, uint64_t now)
{
    pace->state = state;
    pace->since_ns = now;
    pace->events = pace->windows = 0;
}

static void choose(struct oche_pace *pace, bool together)
{
    pace->met &= together;
    pace->together = together;
}

static void settle(struct oche_pace *pace, bool together, uint64_t now)
{
    choose(pace, together);
    begin(pace, OCHE_PACE_SETTLED, now);
}

/* Ends a trial: keeps the new way if it is better, else goes back to the old one for longer. */
static void judge(struct oche_pace *pace, double rate, uint64_t now)
{
    if (rate >= BETTER * pace->before) {
        pace->settled_ns = FIRST_SETTLED_NS;
        settle(pace, pace->together, now);
        return;
    }
    pace->settled_ns *= 2;
    if (pace->settled_ns > LAST_SETTLED_NS)
        pace->settled_ns = LAST_SETTLED_NS;
    settle(pace, !pace->together, now);
}

static void step(struct oche_pace *pace, uint64_t now)
{
    const uint64_t passed = now - pace->since_ns;
    const double rate = (double)pace->events / (double)(passed + 1);

    switch (pace->state) {
    case OCHE_PACE_SETTLED:
        if (passed >= pace->settled_ns)
            begin(pace, OCHE_PACE_MEASURED, now);
        return;
    case OCHE_PACE_MEASURED:
        if (passed < TRIAL_NS)
            return;
        pace->before = rate;
        choose(pace, !pace->together);
        begin(pace, OCHE_PACE_ON_TRIAL, now);
        return;
    case OCHE_PACE_ON_TRIAL:
        if (passed >= TRIAL_NS)
            judge(pace, rate, now);
        return;
    }
}

void oche_pace_count(struct oche_pace *pace, uint64_t events, bool together,
                     uint64_t (*clock_ns)(void))
{
    if (pace->always) {
        pace->together = true;
        return;
    }
    pace->events += events;
    pace->windows++;
    pace->met = together;
    if (pace->events < LOOK_EVENTS && pace->windows < LOOK_WINDOWS && together == pace->together)
        return;
    const uint64_t now = clock_ns();

    if (pace->since_ns == 0)
        pace->settled_ns = FIRST_SETTLED_NS;
    if (pace->events >= OCHE_PACE_MANY * pace->windows) {
        settle(pace, true, now);
    } else if (pace->events < OCHE_PACE_FEW * pace->windows) {
        settle(pace, false, now);
    } else if (pace->since_ns == 0 || together != pace->together) {
        begin(pace, pace->since_ns == 0 ? OCHE_PACE_MEASURED : pace->state, now);
    } else {
        step(pace, now);
    }
}
