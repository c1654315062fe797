/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the user may choose, by environment variables, which `oche exec` sets from its options:
 *
 *   OCHE_CC         congestion control scheme        OCHE_RECOVERY  loss recovery scheme
 *   OCHE_DEVICE     the only address to use          OCHE_CAPTURE   a pcap file; %p: process id
 *   OCHE_DROP       packets lost on purpose when they are sent, in a million: for tests
 */
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "device/verbs/internal.h"

void ov_say(const char *format, ...)
{
    char line[512] = "oche: ";
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(line + 6, sizeof(line) - 6, format, arguments);
    va_end(arguments);
    fprintf(stderr, "%s\n", line);
}

/* A broken invariant of the core's: a bug of ours. */
void oche_panic(const char *file, int line, const char *what)
{
    ov_say("%s:%d: broken invariant: %s; this is a bug", file, line, what);
    abort();
}

/* Copies `from`, with the process id for each %p. */
static const char *with_process_id(const char *from, char *to, size_t bytes)
{
    size_t at = 0;

    for (; *from != '\0' && at + 12 < bytes; from++) {
        if (from[0] == '%' && from[1] == 'p') {
            at += (size_t)snprintf(to + at, bytes - at, "%d", (int)getpid());
            from++;
        } else {
            to[at++] = *from;
        }
    }
    to[at] = '\0';
    return to;
}

static const char *value_of(const char *name)
{
    const char *value = getenv(name);

    return value != NULL && value[0] != '\0' ? value : NULL;
}

static bool read_drop(struct oche_device_config *config)
{
    const char *text = value_of("OCHE_DROP");
    char *end;
    unsigned long ppm;

    if (text == NULL)
        return true;
    ppm = strtoul(text, &end, 10);
    if (*end != '\0' || text[0] < '0' || text[0] > '9' || ppm > 1000000) {
        ov_say("OCHE_DROP=%s: packets in a million are meant, 0 to 1000000", text);
        return false;
    }
    config->drop_sent_ppm = (uint32_t)ppm;
    return true;
}

bool ov_environment(struct oche_device_config *config)
{
    static char capture[PATH_MAX];
    const char *name;

    name = value_of("OCHE_CC");
    if (name != NULL && (config->cc = oche_cc_find(name)) == NULL) {
        ov_say("OCHE_CC=%s: no such congestion control; oche exec --help lists them", name);
        return false;
    }
    name = value_of("OCHE_RECOVERY");
    if (name != NULL && (config->recovery = oche_recovery_find(name)) == NULL) {
        ov_say("OCHE_RECOVERY=%s: no such loss recovery; oche exec --help lists them", name);
        return false;
    }
    name = value_of("OCHE_CAPTURE");
    if (name != NULL)
        config->capture = with_process_id(name, capture, sizeof(capture));
    return read_drop(config);
}
