/* SPDX-License-Identifier: Apache-2.0 */
/* Captures of a run: finds the hosts and the file that the command line names. */
#include "cli/run/taps.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/interrupted.h"
#include "params/error.h"

#define FEW_HOSTS 8 /* most hosts for which all links are captured if the user names none */

/*
 * Returns the host called "host3", or of that number. Returns OCHE_MAX_NODES, with an error, if
 * there is no such host.
 */
static uint32_t find_host(const struct oche_topology *topology, const char *name,
                          struct oche_error *error)
{
    uint32_t node = oche_topology_find(topology, name);
    char *end;

    if (name[0] >= '0' && name[0] <= '9') {
        unsigned long number = strtoul(name, &end, 10);

        if (*end == '\0' && number < topology->host_count)
            return (uint32_t)number;
    }
    if (node < topology->host_count)
        return node;
    if (node != UINT32_MAX)
        oche_fail(error,
                  "--pcap: %s is a switch; captures are taken at hosts: %s to %s, or their numbers",
                  name, topology->nodes[0].name, topology->nodes[topology->host_count - 1].name);
    else
        oche_fail(error,
                  "--pcap: \"%s\" is no host of this topology; there are %s to %s, or 0 to %u",
                  name, topology->nodes[0].name, topology->nodes[topology->host_count - 1].name,
                  topology->host_count - 1);
    return OCHE_MAX_NODES;
}

/* Fills taps->nodes with the hosts listed in `names`, which is changed; NULL: all hosts. */
static bool find_hosts(struct oche_taps *taps, const struct oche_topology *topology, char *names,
                       struct oche_world_config *config, struct oche_error *error)
{
    uint32_t count = 0;

    taps->nodes = calloc(topology->host_count, sizeof(*taps->nodes));
    OCHE_GOT(taps->nodes != NULL);
    if (names == NULL && topology->host_count > FEW_HOSTS)
        return oche_fail(
            error, "--pcap: which of %u hosts? name them after the file, such as %s:%s,%s",
            topology->host_count, taps->path, topology->nodes[0].name, topology->nodes[1].name);
    for (; names == NULL && count < topology->host_count; count++)
        taps->nodes[count] = count;
    for (char *name; (name = strsep(&names, ",")) != NULL;) {
        uint32_t host = find_host(topology, name, error);
        bool named_before = false;

        if (host == OCHE_MAX_NODES)
            return false;
        for (uint32_t i = 0; i < count; i++)
            named_before |= taps->nodes[i] == host;
        if (!named_before)
            taps->nodes[count++] = host;
    }
    config->tap_nodes = taps->nodes;
    config->tap_node_count = count;
    return true;
}

/*
 * Finds the hosts in a topology that is built only for this. The world has a topology too, but is
 * built later, because it needs the taps.
 */
static bool name_hosts(struct oche_taps *taps, char *names, struct oche_world_config *config,
                       struct oche_error *error)
{
    struct oche_topology topology;
    struct oche_error why;

    if (config->topology->check != NULL && !config->topology->check(config->topology_params, &why))
        return oche_fail(error, "topology.%s", why.text);
    if (!config->topology->build(config->topology_params, &topology, error))
        return false;
    bool found = find_hosts(taps, &topology, names, config, error);

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
    if (taps->capture != NULL)
        return;
    bool named = strncmp(message.text, taps->part, part) == 0;

    if (named)
        oche_fail(error, "--pcap %s: cannot be written%s; give a place that can be", taps->path,
                  message.text + part);
    else
        oche_fail(error, "--pcap %s: %s", taps->path, message.text);
}

bool oche_taps_open(struct oche_taps *taps, const char *argument, struct oche_world_config *config,
                    struct oche_error *error)
{
    *taps = (struct oche_taps){.path = strdup(argument)};
    OCHE_GOT(taps->path != NULL);
    char *slash = strrchr(taps->path, '/');
    char *colon = strchr(slash != NULL ? slash : taps->path, ':');

    if (colon != NULL)
        *colon = '\0';
    OCHE_GOT(asprintf(&taps->part, "%s.part", taps->path) >= 0);
    if (taps->path[0] == '\0' || (colon != NULL && colon[1] == '\0')) {
        oche_fail(error, "--pcap %s: write FILE, or FILE:HOST,HOST", argument);
        oche_taps_abandon(taps);
        return false;
    }
    if (!replaceable(taps->path))
        oche_fail(error, "--pcap %s: not a plain file; give the name of a new one", taps->path);
    else if (name_hosts(taps, colon != NULL ? colon + 1 : NULL, config, error))
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
    if (!oche_capture_close(capture, error))
        return false;
    if (rename(taps->part, taps->path) != 0)
        return oche_fail(error, "%s: cannot be written: %s", taps->path, strerror(errno));
    return true;
}

void oche_taps_abandon(struct oche_taps *taps)
{
    struct oche_error error;

    if (taps->capture != NULL)
        oche_capture_close(taps->capture, &error);
    if (taps->part != NULL)
        unlink(taps->part);
    oche_remove_if_interrupted(OCHE_UNFINISHED_CAPTURE, NULL);
    free(taps->path);
    free(taps->part);
    free(taps->nodes);
    *taps = (struct oche_taps){.capture = NULL};
}
