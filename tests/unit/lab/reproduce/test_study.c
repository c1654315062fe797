/* SPDX-License-Identifier: Apache-2.0 */
/* Files of figures: the values read from them, and the message for a bad file, with the line. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lab/reproduce/flow_text.h"
#include "lab/reproduce/paper.h"
#include "lab/reproduce/plan.h"
#include "tests/support/test.h"
#include "tests/unit/lab/reproduce/make.h"

static struct oche_error error;

/* ---- bad files ---- */

#define PLOT                                                                                       \
    "plot:\n"                                                                                      \
    "  quantity: speed\n"                                                                          \
    "  along: loss.probability\n"                                                                  \
    "  x: {name: x}\n"                                                                             \
    "  y: {name: y, scale: log}\n"                                                                 \
    "  published: [{curve: A, points: [[0, 1Gbps]]}]\n"
#define ONE_PLOT(title)                                                                            \
    "{title: " title ", quantity: speed, along: loss.probability, x: {name: x}, y: {name: y}}\n"

/* Line 1 is the title. */
static const char base[] = "title: T\n"
                           "place: P\n"
                           "scenario: s.yaml\n"
                           "grids:\n"
                           "  - vary:\n"
                           "      recovery: {A: go_back_n, B: {name: go_back_n}}\n"
                           "      loss.probability: [0, 1e-3]\n"
                           "    repeat: 4\n"
                           "quantities:\n"
                           "  speed: {metric: goodput}\n"
                           "at: {recovery: A}\n" PLOT "claims:\n"
                           "  - name: c\n"
                           "    text: t\n"
                           "    kind: value\n"
                           "    quantity: speed\n"
                           "    at: {loss.probability: 1e-3}\n"
                           "    published: 10Gbps\n"
                           "    tolerance: {absolute: 1Gbps, in_shape: 2Gbps}\n"
                           "    place: p\n"
                           "    source: text\n"
                           "    confidence: high\n";

static const struct {
    const char *from, *to, *error; /* the error's beginning; with a line's end, the whole error */
} changes[] = {
    {"title: T\n", "", "fig.yaml:1: has no \"title\"; add title: TEXT\n"},
    {"title: T", "title: [T]", "fig.yaml:1: title: is a list; write a text\n"},
    {"title: T", "title:", "fig.yaml:1: title: is empty; write a text\n"},
    {"place: P", "palce: P", "fig.yaml:2: palce: unknown key; did you mean \"place\"?\n"},
    {"place: P", "place: P\nzzzzzzzz: 1",
     "fig.yaml:3: zzzzzzzz: unknown key; there are title, place, "},
    {"title: T\n", "title: [T\n", "fig.yaml:2: not YAML: "},

    {"    repeat: 4", "    repeat: 0",
     "fig.yaml:8: grids[0].repeat: 0 is out of range; from 1 to "},
    {"    repeat: 4", "    repeats: 4", "fig.yaml:8: grids[0].repeats: unknown key; did you mean "},
    {"    repeat: 4", "    from: x",
     "fig.yaml:5: grids[0].from: \"x\" is not a grid of paper.yaml; there is none\n"},
    {"    repeat: 4\n", "    repeat: 4\n    reading: other\n",
     "fig.yaml:5: grids[0].reading: \"other\" is not a label of also; there is none\n"},
    {"    repeat: 4\nquantities:", "    reading: x\nalso: [{label: x, at: {}}]\nquantities:",
     "fig.yaml:5: grids[0].reading: no grid is of the figure's own; leave it out of one\n"},
    {"[0, 1e-3]", "[]", "fig.yaml:7: grids[0].vary.loss.probability: has no values; write "},
    {"[0, 1e-3]", "1e-3", "fig.yaml:7: grids[0].vary.loss.probability: has no values; write "},
    {"[0, 1e-3]", "[1e-3, 1e-3]",
     "fig.yaml:7: grids[0].vary.loss.probability: has 1e-3 twice; write each value once\n"},
    {"[0, 1e-3]", "[1e-3, 0, 0.1%]",
     "fig.yaml:7: grids[0].vary.loss.probability: 1e-3 and 0.1% are the same; write each value "
     "once\n"},
    {"    repeat: 4\n", "    repeat: 4\n  - {set: {recovery: x, loss.probability: 0.10%}}\n",
     "fig.yaml:9: grids[1].set.loss.probability: 0.10% is written as 1e-3 elsewhere; write it in "
     "one way\n"},
    {"loss.probability: [0, 1e-3]", "seed: [1, 2]",
     "fig.yaml:7: grids[0].vary.seed: the repeats have the seeds; "},
    {"    repeat: 4\n", "    repeat: 4\n  - {set: {recovery: C}}\n",
     "fig.yaml:9: grids[1]: does not say loss.probability, which another grid varies; add it to "
     "its set\n"},
    {"    repeat: 4\n", "    repeat: 4\n  - {set: {recovery: go_back_n, loss.probability: 0}}\n",
     "fig.yaml:9: grids[1]: runs what another grid runs, such as recovery=go_back_n; leave it to "
     "one\n"},
    {"    repeat: 4\n",
     "    repeat: 4\n  - {vary: {recovery: {A: x}}, set: {loss.probability: 0}}\n",
     "fig.yaml:9: grids[1]: recovery: \"A\" is x, and \"A\" is go_back_n; one name for one "
     "value\n"},
    {"    repeat: 4\n",
     "    repeat: 4\n  - {set: {recovery: x, loss.probability: 0, duration: 1ms}}\n",
     "fig.yaml:5: grids[0]: does not say duration, as another grid does; add it to its set\n"},
    {"    repeat: 4\n", "    set: {duration: 1ms}\n  - {set: {recovery: x, loss.probability: 0}}\n",
     "fig.yaml:9: grids[1]: does not say duration, as another grid does; add it to its set\n"},

    {"{metric: goodput}", "{metric: godput}",
     "fig.yaml:10: quantities.speed.metric: godput: no such metric; "},
    {"{metric: goodput}", "{}", "fig.yaml:10: quantities.speed: has no \"metric\"; add metric: "},
    {"{metric: goodput}", "{metric: [goodput, timeouts]}",
     "fig.yaml:10: quantities.speed.metric: adds goodput (in bps) and timeouts (in count); "},
    {"{metric: goodput}", "{metric: goodput, statistic: pooled}",
     "fig.yaml:10: quantities.speed.statistic: pooled is a sum over a sum; "},
    {"{metric: goodput}", "{metric: goodput, statistic: mode}",
     "fig.yaml:10: quantities.speed.statistic: \"mode\" is not known; "},
    {"{metric: goodput}", "{metric: goodput, as: reduction}",
     "fig.yaml:10: quantities.speed.as: is for ratios; add over or relative_to\n"},
    {"{metric: goodput}", "{metric: goodput, since: 20us}",
     "fig.yaml:10: quantities.speed.since: is for times, and this is in bps; leave it out\n"},
    {"{metric: goodput}", "{metric: pause_time, since: 20KB}",
     "fig.yaml:10: quantities.speed.since: \"20KB\": "},
    {"{metric: goodput}", "{metric: goodput, relative_to: {los.probability: 0}}",
     "fig.yaml:10: quantities.speed.relative_to.los.probability: \"los.probability\" is not varied "
     "in this figure; did you mean \"loss.probability\"? (recovery, loss.probability)\n"},
    {"{metric: goodput}", "{metric: goodput, relative_to: {recovery: [A, B]}}",
     "fig.yaml:10: quantities.speed.relative_to.recovery: is a list; write one value\n"},

    {"at: {recovery: A}", "at: {recovery: XYZ}",
     "fig.yaml:11: at.recovery: \"XYZ\" is not a value that a grid runs; one of A, B\n"},
    {"at: {recovery: A}\n", "at: {recovery: A}\nalso: [{label: x}]\n",
     "fig.yaml:12: also[0]: has neither \"at\" nor \"instead\" nor \"quantities\"; add at: {AXIS: "
     "VALUE}\n"},
    {"at: {recovery: A}\n",
     "at: {recovery: A}\nalso: [{label: x, at: {recovery: B}}, {label: x, at: {recovery: B}}]\n",
     "fig.yaml:12: also[1].label: \"x\" is there twice; give another label\n"},
    {"at: {recovery: A}\n", "at: {recovery: A}\nalso: [{label: 'a \"b\"', at: {recovery: B}}]\n",
     "fig.yaml:12: also[0].label: has a quotation mark or a line break; leave it out\n"},
    {"at: {recovery: A}\n", "at: {recovery: A}\nalso: [{label: \"a\\nb\", at: {recovery: B}}]\n",
     "fig.yaml:12: also[0].label: has a quotation mark or a line break; leave it out\n"},
    {"at: {recovery: A}\n", "at: {recovery: A}\nalso: [{label: x, quantities: speed}]\n",
     "fig.yaml:12: also[0].quantities: is not a map; write {QUANTITY: OTHER}\n"},
    {"at: {recovery: A}\n", "at: {recovery: A}\nalso: [{label: x, quantities: {sped: speed}}]\n",
     "fig.yaml:12: also[0].quantities: \"sped\" is not a quantity"},
    {"at: {recovery: A}\n", "at: {recovery: A}\nalso: [{label: x, quantities: {speed: speed}}]\n",
     "fig.yaml:12: also[0].quantities.speed: replaces a quantity by itself; leave it out\n"},
    {"{metric: goodput}\nat: {recovery: A}\n",
     "{metric: goodput}\n  late: {metric: fct.all.p99}\nat: {recovery: A}\n"
     "also: [{label: x, quantities: {speed: late}}]\n",
     "fig.yaml:13: also[0].quantities.speed: \"late\" is in s, and \"speed\" in bps\n"},
    {"at: {recovery: A}\n", "at: {recovery: A}\nalso: [{label: x, instead: {}}]\n",
     "fig.yaml:12: also[0].instead: is not a map; write {AXIS: {VALUE: OTHER}}\n"},
    {"at: {recovery: A}\n", "at: {recovery: A}\nalso: [{label: x, instead: {recovery: B}}]\n",
     "fig.yaml:12: also[0].instead.recovery: is not a map; write {VALUE: OTHER}\n"},
    {"at: {recovery: A}\n", "at: {recovery: A}\nalso: [{label: x, instead: {loss: {A: B}}}]\n",
     "fig.yaml:12: also[0].instead.loss: \"loss\" is not varied in this figure; "},
    {"at: {recovery: A}\n",
     "at: {recovery: A}\nalso: [{label: x, instead: {recovery: {A: XYZ}}}]\n",
     "fig.yaml:12: also[0].instead.recovery.A: \"XYZ\" is not a value that a grid runs; one of A, "
     "B\n"},
    {"at: {recovery: A}\n",
     "at: {recovery: A}\nalso: [{label: x, instead: {recovery: {XYZ: A}}}]\n",
     "fig.yaml:12: also[0].instead.recovery: \"XYZ\" is not a value that a grid runs; one of A, "
     "B\n"},
    {"at: {recovery: A}\n", "at: {recovery: A}\nalso: [{label: x, instead: {recovery: {A: A}}}]\n",
     "fig.yaml:12: also[0].instead.recovery.A: replaces a value by itself; leave it out\n"},

    {"  along: loss.probability", "  along: recovery",
     "fig.yaml:12: plot.along: recovery has values that are no numbers\n"},
    {"  along: loss.probability\n", "",
     "fig.yaml:12: plot: does not say which loss.probability (0, 1e-3)\n"},
    {"  quantity: speed\n  along", "  along", "fig.yaml:12: plot: has no \"quantity\"; "},
    {"plot:\n", "plot: []\nplot2:\n", "fig.yaml:13: plot2: unknown key; "},
    {PLOT, "plot: []\n", "fig.yaml:12: plot: has no plots; leave it out\n"},
    {PLOT, "plot: yes\n", "fig.yaml:12: plot: is not a map; write "},
    {PLOT, "plot:\n  - {quantity: speed, along: loss.probability, x: {name: x}, y: {name: y}}\n",
     "fig.yaml:13: plot[0]: has no \"title\"; add title: TEXT\n"},
    {PLOT, "plot:\n  - " ONE_PLOT("a") "  - " ONE_PLOT("b") "  - " ONE_PLOT("a"),
     "fig.yaml:15: plot[2].title: \"a\" is that of another plot; give it one of its own\n"},
    {PLOT, "plot:\n  - " ONE_PLOT("a") "  - {title: b, quantity: sped}\n",
     "fig.yaml:14: plot[1].quantity: \"sped\" is not a quantity; did you mean \"speed\"? ("},
    {"  x: {name: x}\n", "", "fig.yaml:12: plot: has no \"x\"; add x: {name: …, scale: log}\n"},
    {"scale: log", "scale: square", "fig.yaml:16: plot.y.scale: \"square\" is not known; "},
    {"[[0, 1Gbps]]", "[0, 1Gbps]",
     "fig.yaml:17: plot.published[0].points[0]: is not a point; write [X, Y]\n"},
    {"[[0, 1Gbps]]", "[[0, 1]]", "fig.yaml:17: plot.published[0].points[0][1]: 1 has no unit; "},
    {", points: [[0, 1Gbps]]", "", "fig.yaml:17: plot.published[0].points: has none; write "},

    {"kind: value", "kind: valu",
     "fig.yaml:21: claims[0].kind: \"valu\" is not a kind of claim; did you mean \"value\"? ("},
    {"    kind: value\n", "", "fig.yaml:19: claims[0]: has no \"kind\"; add kind: TEXT\n"},
    {"    confidence: high\n", "",
     "fig.yaml:19: claims[0]: has no \"confidence\"; one of high, medium, low\n"},
    {"    source: text\n", "",
     "fig.yaml:19: claims[0]: has no \"source\"; one of text, plot, memory, own\n"},
    {"source: text", "source: hearsay", "fig.yaml:27: claims[0].source: \"hearsay\" is "},
    {"confidence: high", "confidence: sure", "fig.yaml:28: claims[0].confidence: \"sure\" is "},
    {"    quantity: speed\n    at: {loss", "    quantity: sped\n    at: {loss",
     "fig.yaml:22: claims[0].quantity: \"sped\" is not a quantity; did you mean \"speed\"? ("},
    {"    at: {loss.probability: 1e-3}\n", "",
     "fig.yaml:19: claims[0]: does not say which loss.probability (0, 1e-3)\n"},
    {"    at: {loss.probability: 1e-3}\n", "    at: {loss.probability: 1e-4}\n",
     "fig.yaml:23: claims[0].at.loss.probability: \"1e-4\" is not a value that a grid runs; one of "
     "0, 1e-3\n"},
    {"    at: {loss.probability: 1e-3}\n", "    at: []\n",
     "fig.yaml:23: claims[0].at: is not a map; write AXIS: VALUE\n"},
    {"published: 10Gbps", "published: 10", "fig.yaml:24: claims[0].published: 10 has no unit; "},
    {"    published: 10Gbps\n", "",
     "fig.yaml:19: claims[0]: has no \"published\"; add the paper's number\n"},
    {"published: 10Gbps", "bound: 10Gbps", "fig.yaml:24: claims[0].bound: unknown key; "},
    {"    tolerance: {absolute: 1Gbps, in_shape: 2Gbps}\n", "",
     "fig.yaml:19: claims[0]: has no \"tolerance\"; add tolerance: {absolute: …, in_shape: …}\n"},
    {"{absolute: 1Gbps, in_shape: 2Gbps}", "{absolute: 1Gbps}",
     "fig.yaml:25: claims[0].tolerance: has no \"in_shape\"; add a number\n"},
    {"{absolute: 1Gbps, in_shape: 2Gbps}", "{absolute: 3Gbps, in_shape: 2Gbps}",
     "fig.yaml:25: claims[0].tolerance.in_shape: is narrower than absolute; make it wider\n"},
    {"{absolute: 1Gbps, in_shape: 2Gbps}", "{absolute: 11Gbps, in_shape: 12Gbps}",
     "fig.yaml:25: claims[0].tolerance.absolute: is wider than the paper's number, so that this is "
     "no test; narrow it, or say why under not_testable\n"},
    {"published: 10Gbps", "published: 10Gbps\n    provided: {quantity: speed}",
     "fig.yaml:25: claims[0].provided: has to say at_least or at_most, one of them\n"},
    {"published: 10Gbps", "published: 10Gbps\n    provided: {quantity: sped, at_least: 1bps}",
     "fig.yaml:25: claims[0].provided.quantity: \"sped\" is not a quantity; did you mean "},
    {"published: 10Gbps", "published: 10Gbps\n    provided: {quantity: speed, at_least: 1us}",
     "fig.yaml:25: claims[0].provided.at_least: "},
    {"published: 10Gbps", "published: 10Gbps\n    limit: 20Gbps",
     "fig.yaml:25: claims[0].limit: unknown key; "},
    {"    kind: value\n    quantity: speed\n    at: {loss.probability: 1e-3}\n"
     "    published: 10Gbps\n",
     "    kind: at_least\n    quantity: speed\n    at: {loss.probability: 1e-3}\n    says: s\n"
     "    bound: 10Gbps\n    limit: 9Gbps\n",
     "fig.yaml:26: claims[0].limit: is below the bound; write more\n"},
    {"{absolute: 1Gbps, in_shape: 2Gbps}", "{absolute: -1Gbps, in_shape: 2Gbps}",
     "fig.yaml:25: claims[0].tolerance.absolute: -1Gbps is less than 0; write more\n"},
    {"{absolute: 1Gbps, in_shape: 2Gbps}", "{absolute: 1Gbps, relative: 1%, in_shape: 2%}",
     "fig.yaml:25: claims[0].tolerance: is absolute and relative; one of them\n"},
    {"{absolute: 1Gbps, in_shape: 2Gbps}", "{margin: 1Gbps, in_shape: 2Gbps}",
     "fig.yaml:25: claims[0].tolerance.margin: unknown key; "},
    {"kind: value", "kind: ratio",
     "fig.yaml:24: claims[0].published: \"10Gbps\" is not a number; "},
    {"    kind: value\n", "    kind: difference\n",
     "fig.yaml:19: claims[0]: has no \"than\"; add what differs where it is compared to\n"},
    {"    confidence: high\n",
     "    confidence: high\n  - {name: c, text: t, kind: value, quantity: speed, place: p,\n"
     "     source: text, confidence: low, at: {loss.probability: 0}, published: 1Gbps,\n"
     "     tolerance: {relative: 1%, in_shape: 2%}}\n",
     "fig.yaml:29: claims[1].name: there is another claim \"c\"; give it a name of its own\n"},
    {"    kind: value\n    quantity: speed\n    at: {loss.probability: 1e-3}\n"
     "    published: 10Gbps\n    tolerance: {absolute: 1Gbps, in_shape: 2Gbps}\n",
     "    kind: order\n    quantity: speed\n    at: {loss.probability: 1e-3}\n    says: s\n"
     "    of: {recovery: [A]}\n    tolerance: {margin: 1Gbps, in_shape: 2Gbps}\n",
     "fig.yaml:25: claims[0].of: has fewer than two conditions; name more\n"},
    {"    kind: value\n    quantity: speed\n    at: {loss.probability: 1e-3}\n"
     "    published: 10Gbps\n    tolerance: {absolute: 1Gbps, in_shape: 2Gbps}\n",
     "    kind: near\n    quantity: speed\n    at: {loss.probability: 1e-3}\n"
     "    of: {recovery: [A, B]}\n    tolerance: {margin: 1Gbps, in_shape: 2Gbps}\n",
     "fig.yaml:19: claims[0]: has no \"says\"; add says: TEXT\n"},
    {"    kind: value\n    quantity: speed\n    at: {loss.probability: 1e-3}\n"
     "    published: 10Gbps\n    tolerance: {absolute: 1Gbps, in_shape: 2Gbps}\n",
     "    kind: falls_from\n    quantity: speed\n    along: recovery\n    below: 1Gbps\n"
     "    published: 1e-3\n    tolerance: {factor: 2, in_shape: 3}\n",
     "fig.yaml:19: claims[0].along: recovery has values that are no numbers\n"},
    {"    kind: value\n    quantity: speed\n    at: {loss.probability: 1e-3}\n"
     "    published: 10Gbps\n    tolerance: {absolute: 1Gbps, in_shape: 2Gbps}\n",
     "    kind: falls_from\n    quantity: speed\n    along: loss.probability\n    below: 1Gbps\n"
     "    published: 1e-3\n    tolerance: {factor: 0.5, in_shape: 3}\n",
     "fig.yaml:26: claims[0].tolerance.factor: 0.5 is less than 1; write more\n"},
    {"    kind: value\n    quantity: speed\n    at: {loss.probability: 1e-3}\n"
     "    published: 10Gbps\n    tolerance: {absolute: 1Gbps, in_shape: 2Gbps}\n",
     "    kind: falls_from\n    quantity: speed\n    along: loss.probability\n    below: 1Gbps\n"
     "    published: 0\n    tolerance: {factor: 2, in_shape: 3}\n",
     "fig.yaml:25: claims[0].published: is not above 0; a factor has no meaning then\n"},
    {"    quantity: speed\n    at: {loss", "    quantity: [speed, speed]\n    at: {loss",
     "fig.yaml:22: claims[0].quantity: is a list, but this kind has one quantity\n"},
    {"    kind: value\n    quantity: speed\n    at: {loss.probability: 1e-3}\n"
     "    published: 10Gbps\n    tolerance: {absolute: 1Gbps, in_shape: 2Gbps}\n",
     "    kind: near\n    quantity: [speed]\n    at: {loss.probability: 1e-3}\n    says: s\n"
     "    tolerance: {margin: 1Gbps, in_shape: 2Gbps}\n",
     "fig.yaml:22: claims[0].quantity: has 1 quantities; two or more are compared\n"},
    {"    kind: value\n    quantity: speed\n    at: {loss.probability: 1e-3}\n"
     "    published: 10Gbps\n    tolerance: {absolute: 1Gbps, in_shape: 2Gbps}\n",
     "    kind: ratio\n    quantity: [speed, speed, speed]\n    at: {loss.probability: 1e-3}\n"
     "    published: 1\n    tolerance: {absolute: 1, in_shape: 2}\n",
     "fig.yaml:22: claims[0].quantity: has 3 quantities; two are compared\n"},
    {"    kind: value\n    quantity: speed\n    at: {loss.probability: 1e-3}\n"
     "    published: 10Gbps\n    tolerance: {absolute: 1Gbps, in_shape: 2Gbps}\n",
     "    kind: near\n    quantity: [speed, sped]\n    at: {loss.probability: 1e-3}\n    says: s\n"
     "    tolerance: {margin: 1Gbps, in_shape: 2Gbps}\n",
     "fig.yaml:22: claims[0].quantity[1]: \"sped\" is not a quantity; did you mean \"speed\"? ("},
    {"    kind: value\n    quantity: speed\n    at: {loss.probability: 1e-3}\n"
     "    published: 10Gbps\n    tolerance: {absolute: 1Gbps, in_shape: 2Gbps}\n",
     "    kind: near\n    quantity: [speed, speed]\n    at: {loss.probability: 1e-3}\n"
     "    says: s\n    of: {recovery: [A, B]}\n    tolerance: {margin: 1Gbps, in_shape: 2Gbps}\n",
     "fig.yaml:25: claims[0].of: is one thing too many, as quantities are compared; "},
    {"    kind: value\n    quantity: speed\n    at: {loss.probability: 1e-3}\n"
     "    published: 10Gbps\n    tolerance: {absolute: 1Gbps, in_shape: 2Gbps}\n",
     "    kind: outside\n    says: s\n    quantity: speed\n    explanation: e\n",
     "fig.yaml:23: claims[0].quantity: unknown key; "},
    {"    kind: value\n    quantity: speed\n    at: {loss.probability: 1e-3}\n"
     "    published: 10Gbps\n    tolerance: {absolute: 1Gbps, in_shape: 2Gbps}\n",
     "    kind: outside\n    says: s\n",
     "fig.yaml:19: claims[0]: has no \"explanation\"; add explanation: TEXT\n"},
    {"    kind: value\n    quantity: speed\n    at: {loss.probability: 1e-3}\n"
     "    published: 10Gbps\n    tolerance: {absolute: 1Gbps, in_shape: 2Gbps}\n",
     "    kind: outside\n    explanation: e\n",
     "fig.yaml:19: claims[0]: has no \"says\"; add says: TEXT\n"},
};

static char *changed(const char *from, const char *to)
{
    const char *at = strstr(base, from);
    char *text = NULL;

    if (at == NULL)
        fail(); /* it is not in the base */
    assert_true(asprintf(&text, "%.*s%s%s", (int)(at - base), base, to, at + strlen(from)) > 0);
    return text;
}

static void test_bad_files_are_refused_with_their_line(void **state)
{
    (void)state;
    for (size_t i = 0; i < OCHE_COUNT_OF(changes); i++) {
        char *text = changed(changes[i].from, changes[i].to), said[sizeof(error.text) + 1];
        struct oche_study *study = oche_study_parse(NULL, "fig.yaml", text, false, &error);

        if (study != NULL)
            fail_msg("%s: taken", changes[i].to);
        snprintf(said, sizeof(said), "%s\n", error.text);
        if (strncmp(said, changes[i].error, strlen(changes[i].error)) != 0)
            fail_msg("row %zu says\n%s\nnot\n%s", i, error.text, changes[i].error);
        free(text);
    }
}

static void test_the_base_of_the_bad_files_is_good(void **state)
{
    struct oche_study *study = oche_study_parse(NULL, "fig.yaml", base, false, &error);

    (void)state;
    if (study == NULL)
        fail_msg("%s", error.text);
    oche_study_close(study);
}

/* One plot or several: the drawing does not change the claims. */
static void test_plots(void **state)
{
    struct oche_study *study = oche_study_parse(NULL, "fig.yaml", base, false, &error);
    char *text = changed(
        PLOT, "plot:\n  - " ONE_PLOT(
                  "first") "  - {title: second, quantity: [speed, speed], by: recovery,\n"
                           "     at: {loss.probability: 1e-3}, x: {name: X, scale: log},\n"
                           "     y: {name: Y}, published: [{curve: B, points: [[1, 2Gbps]]}]}\n");

    (void)state;
    assert_int_equal(study->plot_count, 1);
    assert_null(study->plots[0].title);
    assert_int_equal(study->plots[0].published_count, 1);
    struct oche_study *two = oche_study_parse(NULL, "fig.yaml", text, false, &error);

    if (two == NULL)
        fail_msg("%s", error.text);
    assert_int_equal(two->plot_count, 2);
    assert_string_equal(two->plots[0].title, "first");
    assert_int_equal(two->plots[0].by, OCHE_ANY);
    assert_int_equal(two->plots[0].published_count, 0);
    assert_string_equal(two->plots[1].title, "second");
    assert_int_equal(two->plots[1].quantity_count, 2);
    assert_int_equal(two->plots[1].along, OCHE_ANY);
    assert_int_equal(two->plots[1].by, 0);
    assert_string_equal(two->plots[1].x_scale, "log");
    assert_true(two->plots[1].published[0].points[0][1] == 2e9);
    assert_true(two->digest == study->digest);
    free(text);
    text = changed(PLOT, "");
    oche_study_close(two);
    two = oche_study_parse(NULL, "fig.yaml", text, false, &error);
    assert_int_equal(two->plot_count, 0);
    assert_true(two->digest == study->digest);
    oche_study_close(two);
    oche_study_close(study);
    free(text);
}

/* A claim must not refer to a point that is not run, nor be relative to one. */
static void test_points_that_no_grid_runs_are_found(void **state)
{
    static const char text[] = "title: T\nplace: P\nscenario: s.yaml\n"
                               "grids:\n"
                               "  - vary: {recovery: {A: a, B: b}, loss.probability: [1e-3]}\n"
                               "  - {set: {recovery: a, loss.probability: 0}}\n"
                               "quantities:\n"
                               "  speed: {metric: goodput, relative_to: {loss.probability: 0}}\n"
                               "claims:\n"
                               "  - {name: c, text: t, kind: value, quantity: speed, place: p, "
                               "source: text, confidence: high,\n"
                               "     at: {recovery: %s, loss.probability: %s}, published: 1,\n"
                               "     tolerance: {absolute: 1, in_shape: 1}}\n";
    char one[2048];

    (void)state;
    snprintf(one, sizeof(one), text, "A", "1e-3");
    oche_study_close(make_whole_study(strstr(one, "grids:"), false));
    snprintf(one, sizeof(one), text, "B", "0");
    assert_null(oche_study_parse(NULL, "fig.yaml", one, false, &error));
    assert_string_equal(error.text, "fig.yaml:11: claims[0].at: no grid runs recovery B, "
                                    "loss.probability 0; add it to a grid");
    snprintf(one, sizeof(one), text, "B", "1e-3");
    assert_null(oche_study_parse(NULL, "fig.yaml", one, false, &error));
    assert_string_equal(error.text,
                        "fig.yaml:11: claims[0].at: its quantity is relative, but no grid "
                        "runs recovery B, loss.probability 0; add it to a grid");
}

/* ---- grids ---- */

static const char two_grids[] =
    "grids:\n"
    "  - vary: {recovery: {A: go_back_n, B: {name: go_back_n, nak_interval: 1us}},\n"
    "           loss.probability: [0, 0.001]}\n"
    "    set: {duration: 1ms, warmup: 10us}\n"
    "    repeat: 3\n"
    "    quick: {repeat: 2, set: {duration: 500us}, vary: {recovery: [B]}}\n"
    "  - vary: {recovery: [go_back_n]}\n"
    "    set: {duration: 2ms, warmup: 10us, loss.probability: 1%}\n"
    "    quick: {}\n"
    "quantities: {speed: {metric: goodput}}\n"
    "claims:\n"
    "  - {name: c, text: t, kind: value, quantity: speed, place: p, source: text, confidence: "
    "high,\n"
    "     at: {recovery: {name: go_back_n, nak_interval: 1us}, loss.probability: 1e-3},\n"
    "     published: 1Gbps, tolerance: {absolute: 1Gbps, in_shape: 1Gbps}}\n";

static void test_axes_are_those_of_all_grids(void **state)
{
    struct oche_study *study = make_whole_study(two_grids, false);

    (void)state;
    assert_int_equal(study->axis_count, 2);
    assert_string_equal(study->axes[0].key, "recovery");
    assert_int_equal(study->axes[0].count, 2);
    assert_string_equal(study->axes[0].values[1].label, "B");
    assert_string_equal(study->axes[0].values[1].text, "{name: go_back_n, nak_interval: 1us}");
    assert_null(study->axes[0].unit);
    assert_int_equal(study->axes[1].count, 3);
    assert_string_equal(study->axes[1].unit, "ratio");
    assert_true(study->axes[1].values[2].number == 0.01);
    assert_int_equal(study->combination_count, 5);
    assert_int_equal(study->set_count, 1); /* warm-up is the same in both */
    assert_string_equal(study->sets[0], "warmup=10us");
    assert_int_equal(study->override_count, 1);
    assert_string_equal(study->overrides[0].text[1], "2ms");
    assert_int_equal(study->repeats, 3);
    /* By text and by number: 1e-3 is 0.001. */
    assert_int_equal(study->claims[0].at[0].axis[0].values[0], 1);
    assert_int_equal(study->claims[0].at[0].axis[1].values[0], 1);
    oche_study_close(study);
}

/* Counts divided by seconds are rates. All other quotients are shares. */
static void test_units_of_quotients(void **state)
{
    static const struct {
        const char *quantity, *unit;
    } rows[] = {
        {"{metric: naks, over: measured_time}", "count"},
        {"{metric: naks, over: timeouts}", "ratio"},
        {"{metric: [naks, timeouts], over: measured_time}", "count"},
        {"{metric: goodput, over: measured_time}", "ratio"},
        {"{metric: naks, over: measured_time, relative_to: {loss.probability: 0}}", "ratio"},
        {"{metric: naks, over: [measured_time, pause_time]}", "ratio"}};

    (void)state;
    for (size_t i = 0; i < OCHE_COUNT_OF(rows); i++) {
        char text[2048];
        const char *found = strstr(two_grids, "{metric: goodput}");

        snprintf(text, sizeof(text), "%.*s%s%s", (int)(found - two_grids), two_grids,
                 rows[i].quantity, found + strlen("{metric: goodput}"));
        char *value = strstr(text, "published: 1Gbps");

        snprintf(value, sizeof(text) - (size_t)(value - text), "%s",
                 "published: 1, tolerance: {absolute: 1, in_shape: 1}}\n");
        struct oche_study *study = make_whole_study(text, false);

        assert_string_equal(study->claims[0].quantity->unit, rows[i].unit);
        oche_study_close(study);
    }
}

/* Values that are no numbers, but have numeric labels: the labels are the axis' numbers. */
static void test_labels_can_be_an_axis_numbers(void **state)
{
    struct oche_study *study = make_whole_study(
        "grids: [{vary: {recovery: {2: {name: go_back_n, nak_interval: 1us}, 10: go_back_n}}}]\n"
        "quantities: {speed: {metric: goodput}}\n"
        "claims:\n"
        "  - {name: c, text: t, kind: value, quantity: speed, place: p, source: text, confidence: "
        "high,\n"
        "     at: {recovery: 10}, published: 1Gbps, tolerance: {relative: 1, in_shape: 1}}\n",
        false);

    (void)state;
    assert_string_equal(study->axes[0].unit, "count");
    assert_true(study->axes[0].values[0].number == 2 && study->axes[0].values[1].number == 10);
    assert_int_equal(study->claims[0].at[0].axis[0].values[0], 1);
    oche_study_close(study);
}

/* So they are if only values of another reading have others, which then are no points of curves. */
static void test_labels_of_another_reading_are_no_numbers(void **state)
{
    static const char text[] =
        "grids:\n"
        "  - vary: {recovery: {2: {name: a}, 10: b}}\n"
        "  - {reading: other, vary: {recovery: {10 again: {name: a, x: 1}}}}\n"
        "also: [{label: other, instead: {recovery: {10: 10 again}}}]\n"
        "quantities: {speed: {metric: goodput}}\n"
        "plot: {quantity: speed, along: recovery, x: {name: x}, y: {name: y}}\n"
        "claims:\n"
        "  - {name: c, text: t, kind: falls_from, quantity: speed, along: recovery, below: 1Gbps,\n"
        "     place: p, source: text, confidence: high, published: 10, tolerance: {factor: 2, "
        "in_shape: 3}}\n";
    struct oche_study *study = make_whole_study(text, false);

    (void)state;
    assert_string_equal(study->axes[0].unit, "count");
    assert_true(study->axes[0].values[1].number == 10 && isnan(study->axes[0].values[2].number));
    assert_int_equal(study->claims[0].at_count, 2);
    oche_study_close(study);
}

static void test_quick_mode_runs_less(void **state)
{
    struct oche_study *study = make_whole_study(two_grids, true);
    const size_t a_zero[] = {0, 0}, b_zero[] = {1, 0}, a_much[] = {0, 2};

    (void)state;
    assert_int_equal(oche_study_find(study, a_zero)->repeats, 0);
    assert_int_equal(oche_study_find(study, b_zero)->repeats, 2);
    assert_int_equal(oche_study_find(study, a_much)->repeats, 1);
    assert_string_equal(study->overrides[0].text[0], "500us");
    oche_study_close(study);
}

/* A value that only another reading's grid has is not meant without its name. */
static void test_a_grid_of_one_reading_changes_nothing_for_claims(void **state)
{
    static const char text[] =
        "grids:\n"
        "  - vary: {recovery: {A: a, B: b}, loss.where: [all_links]}\n"
        "  - {reading: other, vary: {recovery: {A: a, B: b}, loss.where: [last_hop]}}\n"
        "also: [{label: other, at: {loss.where: last_hop}}]\n"
        "quantities: {speed: {metric: goodput}}\n"
        "claims:\n"
        "  - {name: c, text: t, kind: value, quantity: speed, place: p, source: text, confidence: "
        "high,\n"
        "     at: {recovery: A}, published: 1Gbps, tolerance: {absolute: 1bps, in_shape: 1bps}}\n";
    struct oche_study *study = make_whole_study(text, false);
    struct oche_samples *samples = oche_samples_create(study);

    (void)state;
    assert_string_equal(oche_condition_text(study, &study->claims[0].at[0]),
                        "recovery A, loss.where all_links");
    for (size_t c = 0; c < study->combination_count; c++)
        oche_samples_put(samples, 0, &study->combinations[c], 0,
                         study->combinations[c].value[1] == 0 ? 1e9 : 5e9);
    oche_samples_ready(samples);
    assert_true(oche_judge(study, &study->claims[0], NULL, samples).measured == 1e9);
    assert_true(oche_judge(study, &study->claims[0], &study->also[0], samples).measured == 5e9);
    oche_samples_free(samples);
    oche_study_close(study);
}

/* ---- the plan ---- */

/* Returns the position of the override among the point's, from 1; 0: it is not there. */
static size_t has_set(const struct oche_grid *grid, size_t point, const char *wanted)
{
    size_t count, found = 0;
    char **sets = oche_grid_sets(grid, point, &count);

    for (size_t i = 0; i < count; i++)
        if (strcmp(sets[i], wanted) == 0)
            found = i + 1;
    oche_grid_sets_free(sets, count);
    return found;
}

static void test_a_plan_has_each_point_once_with_its_grids_overrides(void **state)
{
    struct oche_study *study = make_whole_study(two_grids, false);
    struct oche_plan plan;
    const size_t b_zero[] = {1, 0}, a_much[] = {0, 2};

    (void)state;
    study->scenario = "scenarios/lossy.yaml";
    if (!oche_plan_make(&plan, study, NULL, NULL, &error))
        fail_msg("%s", error.text);
    assert_int_equal(plan.count, 4 * 3 + 1);
    for (size_t i = 0; i < plan.count; i++)
        for (size_t j = 0; j < i; j++)
            assert_int_not_equal(plan.points[i], plan.points[j]);
    size_t one = oche_plan_point(&plan, oche_study_find(study, b_zero), 2);
    size_t other = oche_plan_point(&plan, oche_study_find(study, a_much), 0);

    assert_true(has_set(&plan.grid, one, "recovery={name: go_back_n, nak_interval: 1us}"));
    assert_true(has_set(&plan.grid, one, "duration=1ms"));
    assert_true(has_set(&plan.grid, one, "warmup=10us"));
    assert_true(has_set(&plan.grid, one, "seed=3"));
    assert_true(has_set(&plan.grid, other, "duration=2ms"));
    assert_true(has_set(&plan.grid, other, "loss.probability=1%"));
    /* A varied key may be in a fixed section: it is applied after it. */
    assert_true(has_set(&plan.grid, one, "duration=1ms") <
                has_set(&plan.grid, one, "recovery={name: go_back_n, nak_interval: 1us}"));
    oche_plan_free(&plan);
    oche_study_close(study);
}

static void test_a_point_that_cannot_run_is_found_before(void **state)
{
    char *text = strdup(two_grids), *at = strstr(text, "warmup: 10us, loss");
    struct oche_study *study;
    struct oche_plan plan;

    (void)state;
    memcpy(at, "warmup: 10ms, loss", strlen("warmup: 10ms, loss"));
    study = make_whole_study(text, false);
    study->scenario = "scenarios/lossy.yaml";
    assert_false(oche_plan_make(&plan, study, NULL, NULL, &error));
    assert_string_equal(error.text, "papers/p/fig.yaml:11: grids[1].set.warmup: leaves nothing to "
                                    "measure; make it less than duration");
    oche_study_close(study);
    free(text);
}

static bool go_on_for(void *context)
{
    unsigned *left = context;

    return (*left)-- > 0;
}

/* The observer is asked before each combination, and can end it, without an error. */
static void test_a_plan_can_be_ended(void **state)
{
    struct oche_study *study = make_whole_study(two_grids, false);
    unsigned left = 100;
    const struct oche_grid_watch watch = {go_on_for, &left};
    struct oche_plan plan;

    (void)state;
    study->scenario = "scenarios/lossy.yaml";
    assert_true(oche_plan_make(&plan, study, NULL, &watch, &error));
    assert_int_equal(left, 100 - 5);
    oche_plan_free(&plan);
    left = 3;
    snprintf(error.text, sizeof(error.text), "of before");
    assert_false(oche_plan_make(&plan, study, NULL, &watch, &error));
    assert_string_equal(error.text, "");
    oche_study_close(study);
}

/* ---- texts ---- */

static void test_flow_text_reads_back_as_the_same(void **state)
{
    static const char text[] = "a: {b: [1, \"x, y\", ~, 'null', \"a\\tb\\\"\"], \"c: d\": -1}\n"
                               "e: [[], {}]\n";
    struct oche_document *first = oche_document_parse("f", text, strlen(text), &error);
    const char *flow = oche_flow_text(first, oche_document_root(first));
    struct oche_document *second = oche_document_parse("f", flow, strlen(flow), &error);

    (void)state;
    if (second == NULL)
        fail_msg("%s: %s", flow, error.text);
    assert_string_equal(oche_flow_text(second, oche_document_root(second)), flow);
    assert_string_equal(
        flow, "{a: {b: [1, \"x, y\", \"\", \"null\", \"a\\x09b\\\"\"], \"c: d\": \"-1\"}, "
              "e: [[], {}]}");
    oche_document_close(first);
    oche_document_close(second);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_base_of_the_bad_files_is_good),
        cmocka_unit_test(test_bad_files_are_refused_with_their_line),
        cmocka_unit_test(test_plots),
        cmocka_unit_test(test_points_that_no_grid_runs_are_found),
        cmocka_unit_test(test_axes_are_those_of_all_grids),
        cmocka_unit_test(test_units_of_quotients),
        cmocka_unit_test(test_labels_can_be_an_axis_numbers),
        cmocka_unit_test(test_labels_of_another_reading_are_no_numbers),
        cmocka_unit_test(test_quick_mode_runs_less),
        cmocka_unit_test(test_a_grid_of_one_reading_changes_nothing_for_claims),
        cmocka_unit_test(test_a_plan_has_each_point_once_with_its_grids_overrides),
        cmocka_unit_test(test_a_point_that_cannot_run_is_found_before),
        cmocka_unit_test(test_a_plan_can_be_ended),
        cmocka_unit_test(test_flow_text_reads_back_as_the_same),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
