/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/stat/options.h"

#include <argp.h>
#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

#include "cli/refuse.h"
#include "device/view/place.h"

#define LEAST_WATCH 0.25 /* processes write at this interval */
#define MOST_WATCH  86400.0
#define HOST_BYTES  64

enum { KEY_JSON = 0x100, KEY_LISTEN, KEY_VIEW };

static const struct argp_option option_table[] = {
    {"watch", 'w', "SECONDS", 0,
     "Show it anew all so many seconds (0.25 or more), with rates of the time between", 0},
    {"count", 'n', "N", 0, "With --watch: end after N times", 0},
    {"qps", 'q', NULL, 0, "List each queue pair, too", 0},
    {"json", KEY_JSON, NULL, 0, "Print JSON instead: a document, or with --watch one a line", 0},
    {"listen", KEY_LISTEN, "[ADDRESS:]PORT", 0,
     "Serve /metrics for Prometheus there; the address is 127.0.0.1 unless it is given", 0},
    {"view", KEY_VIEW, "FOLDER", 0,
     "Look into this folder alone, which programs were given by `oche exec --view`", 0},
    {0},
};

static double read_seconds(const struct argp_state *state, const char *text)
{
    char *end;
    const double seconds = strtod(text, &end);

    if (text[0] < '0' || text[0] > '9' || *end != '\0' || !(seconds >= LEAST_WATCH) ||
        seconds > MOST_WATCH)
        oche_refuse(state, "--watch: %s: not a number of seconds from %g to %g", text, LEAST_WATCH,
                    MOST_WATCH);
    return seconds;
}

static uint64_t read_number(const struct argp_state *state, const char *option, const char *text,
                            uint64_t least, uint64_t most)
{
    char *end;
    const unsigned long number = strtoul(text, &end, 10);

    if (text[0] < '0' || text[0] > '9' || *end != '\0' || number < least || number > most)
        oche_refuse(state, "%s: %s: not a number from %lu to %lu", option, text,
                    (unsigned long)least, (unsigned long)most);
    return number;
}

/* Reads "PORT", "192.0.2.1:PORT" or "[2001:db8::1]:PORT". */
static void read_address(const struct argp_state *state, struct stat_options *options,
                         const char *text)
{
    const char *colon = strrchr(text, ':'), *host = "127.0.0.1";
    struct sockaddr_in *v4 = (struct sockaddr_in *)(void *)&options->address;
    struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)(void *)&options->address;
    char copy[HOST_BYTES];
    in_port_t port;

    port = htons(
        (in_port_t)read_number(state, "--listen", colon != NULL ? colon + 1 : text, 0, UINT16_MAX));
    if (colon != NULL) {
        const bool bracketed = text[0] == '[' && colon > text && colon[-1] == ']';
        const char *begin = text + bracketed;
        const size_t bytes = (size_t)(colon - begin) - bracketed;

        if (bytes >= sizeof(copy))
            oche_refuse(state, "--listen: %s: not an IP address", text);
        memcpy(copy, begin, bytes);
        copy[bytes] = '\0';
        host = copy;
    }
    options->listens = true;
    if (inet_pton(AF_INET, host, &v4->sin_addr) == 1) {
        v4->sin_family = AF_INET;
        v4->sin_port = port;
        options->address_bytes = sizeof(*v4);
    } else if (inet_pton(AF_INET6, host, &v6->sin6_addr) == 1) {
        v6->sin6_family = AF_INET6;
        v6->sin6_port = port;
        options->address_bytes = sizeof(*v6);
    } else {
        oche_refuse(state, "--listen: %s: must be PORT, 192.0.2.1:PORT or [2001:db8::1]:PORT",
                    text);
    }
}

static void check(const struct argp_state *state, const struct stat_options *options)
{
    const char *fault = options->view_is_given ? oche_view_folder_fault(options->view) : NULL;

    if (fault != NULL)
        oche_refuse(state, "--view: %s: %s; must be the folder of oche exec --view", options->view,
                    fault);
    if (options->count > 0 && options->watch_s == 0)
        oche_refuse(state, "--count without --watch: there is one table");
    if (options->listens && (options->watch_s > 0 || options->json || options->qps))
        oche_refuse(state, "--listen goes with --view alone: it serves what all devices count");
}

static error_t parse(int key, char *argument, struct argp_state *state)
{
    struct stat_options *options = state->input;

    switch (key) {
    case 'w':
        options->watch_s = read_seconds(state, argument);
        return 0;
    case 'n':
        options->count = read_number(state, "--count", argument, 1, UINT32_MAX);
        return 0;
    case 'q':
        options->qps = true;
        return 0;
    case KEY_JSON:
        options->json = true;
        return 0;
    case KEY_LISTEN:
        read_address(state, options, argument);
        return 0;
    case KEY_VIEW:
        if (argument[0] != '/')
            oche_refuse(state, "--view: %s: must be an absolute path", argument);
        options->view = argument;
        options->view_is_given = true;
        return 0;
    case ARGP_KEY_ARG:
        oche_refuse(state, "%s: there are options alone", argument);
        return 0;
    case ARGP_KEY_END:
        check(state, options);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp arguments = {
    .options = option_table,
    .parser = parse,
    .doc = "Shows the running programs that have a device of oche open: those of the user, for "
           "root those of all users.\vWithout --watch rates and counts are those since the device "
           "was opened.",
};

bool stat_options_read(struct stat_options *options, int argc, char **argv)
{
    const char *folder = getenv("OCHE_VIEW");

    *options = (struct stat_options){0};
    if (folder != NULL && folder[0] == '/') /* also for programs that have this variable */
        options->view = folder;
    return oche_parse_arguments(&arguments, argc, argv, 0, options);
}
