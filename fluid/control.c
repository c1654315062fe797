/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Both functions of the header walk along the imaginary axis. Steps are so short that the
 * function's argument turns by at most LONG_TURN in each; only a jump of the argument turns it by
 * more.
 */
#include "fluid/control.h"

#include <math.h>

#define PI         3.14159265358979323846
#define LONG_TURN  0.2  /* most radians that the argument may turn in a step */
#define FIRST_STEP 1e-3 /* relative */
/* relative: if so small a step still turns too far, a root is on the axis */
#define LAST_STEP 1e-10
#define FAINT     1e-3 /* below this gain a loop is assumed never to reach 1 again */
#define ALONE     0.01 /* relative: below this, the terms beside s^degree are neglected */

/*
 * A walk along the frequencies: the frequency, the value there, and the argument followed so far.
 */
struct walk {
    oche_transfer *function;
    void *context;
    double frequency, step;
    double complex value;
    double argument;
    bool lost; /* the argument jumped */
};

static struct walk begin(oche_transfer *function, void *context, double frequency)
{
    struct walk walk = {.function = function,
                        .context = context,
                        .frequency = frequency,
                        .step = FIRST_STEP,
                        .value = function(context, I * frequency)};

    walk.argument = carg(walk.value);
    return walk;
}

static void step(struct walk *walk)
{
    for (;;) {
        double frequency = walk->frequency * (1 + walk->step);
        double complex value = walk->function(walk->context, I * frequency);
        double turn = carg(value / walk->value);

        if (fabs(turn) > LONG_TURN && walk->step > LAST_STEP) {
            walk->step /= 2;
            continue;
        }
        walk->lost |= !(fabs(turn) <= LONG_TURN);
        walk->argument += turn;
        walk->frequency = frequency;
        walk->value = value;
        if (fabs(turn) < LONG_TURN / 4)
            walk->step = fmin(walk->step * 2, FIRST_STEP);
        return;
    }
}

/*
 * To be called when the gain passes 1 between two steps. Returns the phase at that place, for which
 * it interpolates the gain's logarithm.
 */
static double at_gain_1(const struct walk *from, const struct walk *to, double *frequency)
{
    double low = log(cabs(from->value)), high = log(cabs(to->value));
    double part = low / (low - high);

    *frequency = from->frequency + part * (to->frequency - from->frequency);
    return from->argument + part * (to->argument - from->argument);
}

struct oche_margin oche_phase_margin(oche_transfer *loop, void *context, struct oche_band band)
{
    struct walk walk = begin(loop, context, band.low);
    struct oche_margin least = {.phase_deg = INFINITY};

    while (walk.frequency < band.high && cabs(walk.value) > FAINT) {
        struct walk before = walk;
        double frequency;

        step(&walk);
        if ((cabs(before.value) > 1) == (cabs(walk.value) > 1))
            continue;
        double margin = 180 + at_gain_1(&before, &walk, &frequency) * 180 / PI;

        if (margin < least.phase_deg)
            least = (struct oche_margin){margin, frequency};
    }
    return least;
}

/* True if s^degree dominates the function. */
static bool is_alone(const struct walk *walk, unsigned degree)
{
    double complex highest = 1;

    for (unsigned i = 0; i < degree; i++)
        highest *= I * walk->frequency;
    return cabs(walk->value / highest - 1) < ALONE;
}

int oche_unstable_roots(oche_transfer *characteristic, void *context, unsigned degree,
                        struct oche_band band)
{
    /* At 0 the function is real: its argument there is 0 or pi. */
    double at_zero = creal(characteristic(context, 0)) < 0 ? PI : 0;
    struct walk walk = begin(characteristic, context, band.low);
    double turned = remainder(walk.argument - at_zero, 2 * PI);

    turned -= walk.argument;
    while (walk.frequency < band.high && !walk.lost && !is_alone(&walk, degree))
        step(&walk);
    turned += walk.argument;
    /*
     * If all roots are in the left half plane, the argument turns by degree * pi/2. Each root in
     * the right half plane reduces this turn by pi.
     */
    double roots = (degree * PI / 2 - turned) / PI;

    if (walk.lost || fabs(roots - nearbyint(roots)) > 0.25)
        return -1;
    return (int)nearbyint(roots);
}
