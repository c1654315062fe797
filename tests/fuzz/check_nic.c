/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libFuzzer target: any text, up to a zero byte, as a test of Lumina, and any bytes behind it as a
 * capture of that test, before or behind its events (by the first byte). What is accepted is
 * judged. All packets of the trace belong to a stream, no time falls, and an error is one line.
 * tools/fuzz 60 check_nic runs it.
 */
#include "cli/check_nic/capture.h"
#include "lab/check_nic/check.h"
#include "lab/check_nic/learn.h"
#include "tests/fuzz/input.h"
#include "tests/fuzz/target.h"

static const char *check_trace(const struct oche_nic_trace *trace)
{
    oche_time last = 0;

    for (size_t i = 0; i < trace->count; i++) {
        const struct oche_seen_packet *packet = &trace->packets[i];

        if (packet->stream >= trace->stream_count)
            return "a packet of no stream";
        if (packet->kind != OCHE_SEEN_DATA && packet->event == OCHE_SEEN_DROPPED &&
            packet->number == 0)
            return "an answer that was put in";
        if (packet->when < last)
            return "a time that falls";
        last = packet->when;
    }
    return last < OCHE_NEVER ? NULL : "a time that is none";
}

static const char *judge(const struct oche_nic_test *test, struct oche_check_capture *capture)
{
    const struct oche_nic_expected expected = oche_nic_test_expected(test);
    struct oche_watched watched = oche_nic_watch_finish(capture->watch);
    const char *wrong = check_trace(&watched.trace);
    struct oche_check_nic check;
    FILE *nowhere = fopen("/dev/null", "w");

    if (wrong == NULL && watched.events_seen > watched.events)
        wrong = "more events than there are";
    oche_check_nic(&watched.trace, &expected, &check);
    for (int i = 0; i < OCHE_JUDGES; i++)
        if (check.verdicts[i].wrong &&
            ((check.verdicts[i].at != SIZE_MAX && check.verdicts[i].at >= watched.trace.count) ||
             check.verdicts[i].what[0] == '\0'))
            wrong = "a verdict without its packet or its reason";
    if (nowhere != NULL) {
        oche_nic_learn(test, &check, 100 * OCHE_NS, "a capture", nowhere);
        fclose(nowhere);
    }
    oche_nic_check_free(&check);
    return wrong;
}

static const char *check_error(const struct oche_error *error)
{
    return error->text[0] == '\0' || strchr(error->text, '\n') != NULL
               ? "an input that is refused without a reason"
               : NULL;
}

const char *fuzz_input(const uint8_t *bytes, size_t count)
{
    struct oche_nic_test test;
    struct oche_check_capture capture;
    struct oche_error error = {""};
    const uint8_t *end;
    char path[32], *paths[1] = {path};
    const char *wrong = NULL;

    if (count < 2 || (end = memchr(bytes + 1, '\0', count - 1)) == NULL)
        return NULL;
    snprintf(path, sizeof(path), "%s", fuzz_file("test", bytes + 1, (size_t)(end - bytes) - 1));
    if (!oche_nic_test_read(&test, path, NULL, &error))
        return check_error(&error);
    snprintf(path, sizeof(path), "%s",
             fuzz_file("capture", end + 1, count - (size_t)(end + 1 - bytes)));
    if (oche_check_capture_read(&capture, &test, paths, 1, bytes[0] & 1, &error))
        wrong = judge(&test, &capture);
    else
        wrong = check_error(&error);
    if (capture.watch != NULL)
        oche_nic_watch_free(capture.watch);
    oche_nic_test_free(&test);
    return wrong;
}
