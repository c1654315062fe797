/* SPDX-License-Identifier: Apache-2.0 */
/* Captures of a run: finds the ports and the file that the command line names. */
#include "cli/run/taps.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/interrupted.h"
#include "params/error.h"
#include "sim/topology/port_list.h"

#define FEW_HOSTS 8 /* most hosts for which all links are captured if the user names none */

/* Finds the ports that `names` lists; NULL: those of all hosts. */
static bool find_ports(struct oche_taps *taps, const struct oche_topology *topology,
                       const char *names, struct oche_error *error)
{
    struct oche_error why;

    if (names == NULL && topology->host_count > FEW_HOSTS)
        return oche_fail(
            error, "--pcap: which of %u hosts? name them after the file, such as %s:%s,%s",
            topology->host_count, taps->path, topology->nodes[0].name, topology->nodes[1].name);
    if (names != NULL) {
        if (!oche_port_list_find(topology, names, OCHE_PORTS_OF_ALL, &taps->ports, &why))
            return oche_fail(error, "--pcap: %s", why.text);
        if (taps->ports.count == 0)
            return oche_fail(error, "--pcap: \"%.64s\" names no port; write such as %s", names,
                             topology->nodes[0].name);
        return true;
    }
    taps->ports.ports = calloc(topology->host_count, sizeof(*taps->ports.ports));
    OCHE_GOT(taps->ports.ports != NULL);
    for (; taps->ports.count < topology->host_count; taps->ports.count++)
        taps->ports.ports[taps->ports.count] = topology->nodes[taps->ports.count].first_port;
    return true;
}

/*
 * Finds the ports in a topology that is built only for this. The world has a topology too, but is
 * built later, because it needs the taps.
 */
static bool name_ports(struct oche_taps *taps, const char *names, struct oche_world_config *config,
                       struct oche_error *error)
{
    struct oche_topology topology;
    struct oche_error why;

    if (config->topology->check != NULL && !config->topology->check(config->topology_params, &why))
        return oche_fail(error, "topology.%s", why.text);
    if (!config->topology->build(config->topology_params, &topology, error))
        return false;
    bool found = find_ports(taps, &topology, names, error);

    config->tap_ports = taps->ports.ports;
    config->tap_port_count = taps->ports.count;
    oche_topology_free(&topology);
    return found;
}

/* True if the capture can replace `path` by a rename: there is no file, or a regular file. */
static bool replaceable(const char *path)
{
    struct stat there;

    return lstat(path, &there) != 0 || S_ISREG(there.st_mode);
}

static void make_file(struct oche_taps *taps, struct oche_error *error)
{
    struct oche_error message;
    size_t part = strlen(taps->part);

    oche_remove_if_interrupted(OCHE_UNFINISHED_CAPTURE, taps->part);
    taps->capture = oche_capture_create(taps->part, &message);
    taps->has_part = taps->capture != NULL;
    if (taps->has_part)
        return;
    bool named = strncmp(message.text, taps->part, part) == 0;

    if (named)
        oche_fail(error, "--pcap %s: cannot be written%s; give a place that can be", taps->path,
                  message.text + part);
    else
        oche_fail(error, "--pcap %s: %s", taps->path, message.text);
}

/* True if the slash numbers parallel links, as in "t0:t1/2", also in a pattern. */
static bool numbers_a_link(const char *text, const char *slash)
{
    return slash[1] != '\0' && memchr(text, ':', (size_t)(slash - text)) != NULL &&
           strspn(slash + 1, "0123456789*?") == strcspn(slash + 1, ", ");
}

/* Returns the colon after the file's path, whose folders may contain colons, or NULL. */
static char *find_colon(char *text)
{
    char *at = text + strlen(text);

    while (at > text && (at[-1] != '/' || numbers_a_link(text, at - 1)))
        at--;
    return strchr(at, ':');
}

bool oche_taps_open(struct oche_taps *taps, const char *argument, struct oche_world_config *config,
                    struct oche_error *error)
{
    *taps = (struct oche_taps){.path = strdup(argument)};
    OCHE_GOT(taps->path != NULL);
    char *colon = find_colon(taps->path);

    if (colon != NULL)
        *colon = '\0';
    OCHE_GOT(asprintf(&taps->part, "%s.part", taps->path) >= 0);
    if (taps->path[0] == '\0' || (colon != NULL && colon[1] == '\0')) {
        oche_fail(error, "--pcap %s: write FILE, or FILE:HOST,SWITCH:PORT", argument);
        oche_taps_abandon(taps);
        return false;
    }
    if (!replaceable(taps->path))
        oche_fail(error, "--pcap %s: not a plain file; give the name of a new one", taps->path);
    else if (name_ports(taps, colon != NULL ? colon + 1 : NULL, config, error))
        make_file(taps, error);
    if (taps->capture == NULL) {
        oche_taps_abandon(taps);
        return false;
    }
    config->tap = oche_capture_tap;
    config->tap_context = taps->capture;
    return true;
}

bool oche_taps_finish(struct oche_taps *taps, struct oche_error *error)
{
    struct oche_capture *capture = taps->capture;

    taps->capture = NULL;
    if (!oche_capture_finish(capture, error))
        return false;
    if (rename(taps->part, taps->path) != 0)
        return oche_fail(error, "%s: cannot be written: %s", taps->path, strerror(errno));
    taps->has_part = false;
    return true;
}

void oche_taps_abandon(struct oche_taps *taps)
{
    struct oche_error error;

    if (taps->capture != NULL)
        oche_capture_finish(taps->capture, &error);
    if (taps->has_part)
        unlink(taps->part);
    oche_remove_if_interrupted(OCHE_UNFINISHED_CAPTURE, NULL);
    free(taps->path);
    free(taps->part);
    oche_port_list_free(&taps->ports);
    *taps = (struct oche_taps){.capture = NULL};
}
