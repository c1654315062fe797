/* SPDX-License-Identifier: Apache-2.0 */
/* See complaints.h. They are printed like errors, because a script may read nothing else. */
#include "cli/run/complaints.h"

#include <stdio.h>
#include <stdlib.h>

#include "lab/measures/pathologies.h"
#include "device/link/event_text.h"
#include "lab/measures/steady.h"

static void print(const char *name, const char *line)
{
    fprintf(stderr, "%s%s%s\n", name, name[0] != '\0' ? ": " : "", line);
}

static void complain_of_missed(const char *name, const struct oche_outcome *outcome)
{
    char text[OCHE_EVENT_REPORT_BYTES], *line;

    oche_event_text_report(&outcome->events.counts, &outcome->events.first_left, text);
    OCHE_GOT(asprintf(&line, "scripted events at %s: %s", outcome->events_port, text) >= 0);
    print(name, line);
    free(line);
}

void oche_run_complain(const char *name, const struct oche_outcome *outcome, bool must_happen)
{
    char *stop = oche_pathologies_stop_line(&outcome->pathologies);
    char line[OCHE_STEADY_TEXT_BYTES];

    if (stop != NULL)
        print(name, stop);
    free(stop);
    if (outcome->steady.metric[0] != '\0' && outcome->steady.state != OCHE_STEADY_STABLE) {
        oche_steady_complaint(&outcome->steady, line, sizeof(line));
        print(name, line);
    }
    if (must_happen && outcome->events.counts.never > 0)
        complain_of_missed(name, outcome);
}
