/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `oche check-nic`: a test of adapters as Lumina has it, in the simulator or in captures of real
 * ones.
 */
#include <argp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/check_nic/result.h"
#include "cli/commands.h"
#include "cli/refuse.h"
#include "cli/whole_file.h"
#include "lab/check_nic/learn.h"
#include "params/units.h"

enum { KEY_PCAP = 256, KEY_BEHIND, KEY_NIC, KEY_PROFILE, KEY_JSON, KEY_DELAY };
#define MOST_CAPTURES 8

struct options {
    const char *path, *nic, *profile; /* NULL: not given */
    char *captures[MOST_CAPTURES];
    size_t capture_count;
    oche_time delay;
    bool behind, json, packets;
};

static const struct argp_option option_table[] = {
    {"pcap", KEY_PCAP, "CAPTURE", 0,
     "Judge this capture and do not simulate; of a mirror, once for each of its files", 0},
    {"behind-events", KEY_BEHIND, NULL, 0,
     "The capture was made behind the events: what was lost is not in it", 0},
    {"nic", KEY_NIC, "ADAPTER", 0, "The adapter of both ends, in place of the file's", 0},
    {"delay", KEY_DELAY, "TIME", 0, "Delay of the link to each adapter; default 100ns", 0},
    {"profile", KEY_PROFILE, "OUT.yaml", 0, "Write what was seen as a profile of an adapter", 0},
    {"packets", 'p', NULL, 0, "Print all packets, too", 0},
    {"json", KEY_JSON, NULL, 0, "Print JSON instead", 0},
    {0},
};

static void read_delay(struct argp_state *state, const char *text, oche_time *delay)
{
    static const struct oche_param param = {.name = "--delay",
                                            OCHE_IS_TIME(100 * OCHE_NS, OCHE_NS, OCHE_SEC)};
    union oche_value value;
    struct oche_error error;

    if (!oche_value_parse(&param, text, &value, &error))
        oche_refuse(state, "%s", error.text);
    *delay = value.u;
}

static error_t parse(int key, char *argument, struct argp_state *state)
{
    struct options *options = state->input;

    switch (key) {
    case KEY_PCAP:
        if (options->capture_count == MOST_CAPTURES)
            oche_refuse(state, "--pcap %s: more than %d captures", argument, MOST_CAPTURES);
        options->captures[options->capture_count++] = argument;
        return 0;
    case KEY_BEHIND:
        options->behind = true;
        return 0;
    case KEY_NIC:
        options->nic = argument;
        return 0;
    case KEY_DELAY:
        read_delay(state, argument, &options->delay);
        return 0;
    case KEY_PROFILE:
        options->profile = argument;
        if (strlen(argument) <= 5 || strcmp(argument + strlen(argument) - 5, ".yaml") != 0)
            oche_refuse(state, "--profile %s: the name must end in .yaml, so that it can be read",
                        argument);
        return 0;
    case KEY_JSON:
        options->json = true;
        return 0;
    case 'p':
        options->packets = true;
        return 0;
    case ARGP_KEY_ARG:
        if (options->path != NULL)
            oche_refuse(state, "%s: a second test; one at a time", argument);
        options->path = argument;
        return 0;
    case ARGP_KEY_END:
        if (options->path == NULL)
            oche_refuse(state, "which test? give a YAML file of Lumina's, such as "
                               "scenarios/lumina/write.yaml");
        if (options->behind && options->capture_count == 0)
            oche_refuse(state, "--behind-events says where a capture was made; give --pcap, too");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp arguments = {
    .options = option_table,
    .parser = parse,
    .args_doc = "TEST.yaml",
    .doc = "Tests how an adapter behaves when packets are lost or marked, as Lumina does: whether "
           "it follows Go-Back-N at both ends, how it asks for lost READ responses, how many CNPs "
           "it sends, and how long it takes for each. TEST.yaml is a test in Lumina's words. It is "
           "simulated between the adapters that it names (`oche nic` lists those known here), or "
           "judged in a capture of real ones.\vExit status: 0 all verdicts are right; 1 one is "
           "wrong, an event did not happen, a message was given up, or a capture is not "
           "complete; 2 bad arguments or bad input.",
};

/* Writes the profile. Returns false, after a message, if that fails. */
static bool write_profile(const struct options *options, const struct oche_check_result *result)
{
    struct oche_whole_file file;
    struct oche_error error;

    if (!oche_whole_file_begin(&file, options->profile, &error)) {
        oche_print_error("oche check-nic: --profile %s", error.text);
        return false;
    }
    oche_nic_learn(&result->test, &result->check, options->delay,
                   result->capture_count > 0 ? result->captures[0] : result->path, file.out);
    if (oche_whole_file_end(&file, &error))
        return true;
    oche_print_error("oche check-nic: --profile %s", error.text);
    return false;
}

/* Simulates the test or reads the captures. */
static bool get_packets(const struct options *options, struct oche_check_result *result,
                        struct oche_error *error)
{
    const struct oche_watch_config config = {
        .events = result->test.events,
        .event_count = result->test.event_count,
        .place = OCHE_WATCH_BEFORE,
        .mtu_bytes = result->test.mtu_bytes,
        .message_packets = oche_nic_message_packets(&result->test),
    };

    if (options->capture_count > 0)
        return oche_check_capture_read(&result->capture, &result->test, options->captures,
                                       options->capture_count, options->behind, error);
    result->capture.watch = oche_nic_watch_create(&config);
    return oche_nic_simulate(&result->test, options->path, options->delay, result->capture.watch,
                             &result->simulated, error);
}

/*
 * True if the capture has the test's data: of as many queue pairs, and READ responses or not. Says
 * what is wrong if not.
 */
static bool has_the_traffic(const struct options *options, const struct oche_check_result *result)
{
    const struct oche_nic_trace *trace = &result->watched.trace;
    const struct oche_nic_test *test = &result->test;
    uint32_t responses = 0;

    if (options->capture_count == 0 || test->verb == OCHE_NIC_SEND_READ || trace->stream_count == 0)
        return true;
    for (uint32_t i = 0; i < trace->stream_count; i++)
        responses += trace->streams[i].responses;
    if (trace->stream_count == test->num_qps &&
        responses == (oche_nic_test_reads(test) ? trace->stream_count : 0))
        return true;
    oche_print_error("oche check-nic: %s: has data of %u queue pairs, of these %u with READ "
                     "responses; the test has %llu queue pairs, and its verb is %s",
                     options->captures[0], trace->stream_count, responses,
                     (unsigned long long)test->num_qps, oche_nic_verb_name(test->verb));
    return false;
}

/* Prints why there is nothing to judge. */
static void print_nothing(const struct options *options, const struct oche_check_result *result)
{
    const char *path = options->capture_count > 0 ? options->captures[0] : options->path;

    if (result->capture.cut > 0)
        oche_print_error("oche check-nic: %s: has no whole headers of a reliable connection: %llu "
                         "packets were cut within them; capture with a snap length of at least "
                         "128 bytes",
                         path, (unsigned long long)result->capture.cut);
    else
        oche_print_error("oche check-nic: %s: has no packets of a reliable connection", path);
}

static int check(const struct options *options, struct oche_check_result *result)
{
    struct oche_nic_expected expected = oche_nic_test_expected(&result->test);
    struct oche_error error;
    bool written = true;

    if (!get_packets(options, result, &error)) {
        oche_print_error("oche check-nic: %s", error.text);
        return 2;
    }
    result->watched = oche_nic_watch_finish(result->capture.watch);
    if (result->watched.trace.count == 0 && oche_check_one_direction(result) == NULL) {
        print_nothing(options, result);
        return 2;
    }
    if (!has_the_traffic(options, result))
        return 2;
    expected.exact_times = options->capture_count == 0 || result->capture.mirror;
    oche_check_nic(&result->watched.trace, &expected, &result->check);
    if (options->profile != NULL)
        written = write_profile(options, result);
    if (written && options->json)
        oche_check_print_json(result, options->packets);
    else if (written)
        oche_check_print(result, options->packets);
    oche_nic_check_free(&result->check);
    return written ? !oche_check_is_right(result) : 2;
}

int oche_cmd_check_nic(int argc, char **argv)
{
    struct options options = {.delay = 100 * OCHE_NS};
    struct oche_check_result result = {.path = NULL};
    struct oche_error error;
    int status;

    if (!oche_parse_arguments(&arguments, argc, argv, 0, &options))
        return 2;
    result.path = options.path;
    result.captures = options.captures;
    result.capture_count = options.capture_count;
    if (!oche_nic_test_read(&result.test, options.path, options.nic, &error)) {
        oche_print_error("oche check-nic: %s", error.text);
        return 2;
    }
    status = check(&options, &result);
    if (result.capture.watch != NULL)
        oche_nic_watch_free(result.capture.watch);
    oche_nic_test_free(&result.test);
    return status;
}
