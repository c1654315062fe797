/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/stat/span.h"

#include <pwd.h>
#include <string.h>
#include <sys/stat.h>

const char *const stat_transports[3] = {"RC", "UC", "UD"};
const char *const stat_states[7] = {"RESET", "INIT", "RTR", "RTS", "SQD", "SQE", "ERR"};

struct stat_span stat_span_of(const struct oche_view_entry *entry, const struct oche_views *earlier)
{
    const struct oche_view_entry *before =
        earlier != NULL ? oche_views_before(earlier, entry) : NULL;

    if (before == NULL)
        return (struct stat_span){.seconds = (double)entry->view.open_ns / 1e9};
    return (struct stat_span){.from = &before->view,
                              .seconds =
                                  (double)(entry->view.open_ns - before->view.open_ns) / 1e9};
}

uint64_t stat_counted(const struct oche_view *view, const struct stat_span *span, unsigned counter)
{
    return view->counters[counter] - (span->from != NULL ? span->from->counters[counter] : 0);
}

uint64_t stat_counted_sum(const struct oche_view *view, const struct stat_span *span,
                          unsigned first, unsigned end)
{
    uint64_t sum = 0;

    for (unsigned i = first; i < end; i++)
        sum += stat_counted(view, span, i);
    return sum;
}

double stat_per_second(const struct stat_span *span, uint64_t counted)
{
    return span->seconds > 0 ? (double)counted / span->seconds : 0;
}

void stat_user(uid_t user, char text[STAT_USER_BYTES])
{
    const struct passwd *entry = getpwuid(user);

    if (entry != NULL && strlen(entry->pw_name) < STAT_USER_BYTES)
        strcpy(text, entry->pw_name);
    else
        snprintf(text, STAT_USER_BYTES, "%u", (unsigned)user);
}

const struct oche_counters *stat_scheme_counters(const struct oche_view *view)
{
    const struct oche_cc_scheme *scheme = oche_cc_find(view->cc);

    return scheme != NULL ? scheme->counters : NULL;
}

uint64_t stat_network_namespace(void)
{
    struct stat about;

    return stat("/proc/self/ns/net", &about) == 0 ? about.st_ino : 0;
}
