/* SPDX-License-Identifier: Apache-2.0 */
/* Translates a configuration of HPCC's simulator: the run, hosts, links, and what is left over. */
#include "sim/foreign/ns3_scenario.h"

#include <stdarg.h>
#include <string.h>

#include "params/error.h"
#include "params/printable.h"
#include "sim/foreign/ns3_job.h"

#define LEAST_MTU      256
#define MOST_MTU       9000
#define MOST_RUN_S     86400.0
#define LINK_DOWN_FROM (2 * OCHE_SEC) /* LINK_DOWN counts from there */
#define MOST_DOWN_US   UINT64_C(1000000000)
#define MOST_SHOWN     60
#define DCTCP          8
#define MOST_STRANGERS 5 /* that are named */

bool oche_ns3_refuse(const struct oche_ns3_job *job, enum oche_ns3_key key, const char *format, ...)
{
    struct oche_error why;
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(why.text, sizeof(why.text), format, arguments);
    va_end(arguments);
    return oche_fail(job->error, "%s:%u: %s: %s", job->name, job->config->value[key].line,
                     oche_ns3_key_name(key), why.text);
}

/* ---- hosts ---- */

static bool is_dctcp(const struct oche_ns3_job *job)
{
    return oche_ns3_count(job, OCHE_NS3_CC_MODE, 1) == DCTCP;
}

static void translate_recovery(const struct oche_ns3_job *job)
{
    const struct oche_ns3_value *back = oche_ns3_given(job, OCHE_NS3_L2_BACK_TO_ZERO);

    if (oche_ns3_count(job, OCHE_NS3_ENABLE_IRN, 0) != 0) {
        oche_translation_set(job->to, "recovery", "name", "ENABLE_IRN", "selective_repeat");
        return;
    }
    if (back == NULL)
        return;
    oche_translation_set(job->to, "recovery", "name", "L2_BACK_TO_ZERO", "%s",
                         back->count == 0 ? "go_back_n" : "go_back_0");
    if (back->count == 0)
        oche_translation_note(
            job->to, OCHE_NOTE_ASSUMED,
            "L2_BACK_TO_ZERO 0: go-back-N, as the program does; config_doc.txt says the reverse");
    else
        oche_translation_note(
            job->to, OCHE_NOTE_ASSUMED,
            "L2_BACK_TO_ZERO 1: go-back-0, to the message's beginning; there to that of a chunk");
}

static bool translate_host(const struct oche_ns3_job *job)
{
    const struct oche_ns3_value *size = oche_ns3_given(job, OCHE_NS3_PACKET_PAYLOAD_SIZE);
    const struct oche_ns3_value *every = oche_ns3_given(job, OCHE_NS3_L2_ACK_INTERVAL);
    const struct oche_ns3_value *priority = oche_ns3_given(job, OCHE_NS3_ACK_HIGH_PRIO);

    if (size != NULL && (size->count < LEAST_MTU || size->count > MOST_MTU))
        return oche_ns3_refuse(job, OCHE_NS3_PACKET_PAYLOAD_SIZE, "%llu bytes; from %d to %d here",
                               (unsigned long long)size->count, LEAST_MTU, MOST_MTU);
    if (size != NULL)
        oche_translation_set(job->to, "host", "mtu", "PACKET_PAYLOAD_SIZE", "%lluB",
                             (unsigned long long)size->count);
    if (is_dctcp(job))
        return true;
    if (every != NULL)
        oche_translation_set(job->to, "host", "ack_every", "L2_ACK_INTERVAL", "1");
    if (every != NULL && every->count != 1)
        oche_translation_note(
            job->to, OCHE_NOTE_ASSUMED,
            "L2_ACK_INTERVAL %llu: an ACK for each packet, as the program sends them behind the "
            "first so many bytes",
            (unsigned long long)every->count);
    if (priority != NULL)
        oche_translation_set(job->to, "host", "ack_priority", "ACK_HIGH_PRIO", "%s",
                             priority->count != 0 ? "true" : "false");
    translate_recovery(job);
    return true;
}

/* ---- the run ---- */

/* Returns the time in the file at which the run begins: that of the first flow, to the millisecond.
 */
static oche_time origin_of(const struct oche_ns3_job *job)
{
    const struct oche_ns3_value *down = oche_ns3_given(job, OCHE_NS3_LINK_DOWN);
    oche_time origin = job->files->has_flows ? job->files->first_start : LINK_DOWN_FROM;

    if (down != NULL && down->three[0] > 0 && origin > LINK_DOWN_FROM)
        origin = LINK_DOWN_FROM;
    return origin / OCHE_MS * OCHE_MS;
}

static bool translate_link_down(const struct oche_ns3_job *job, oche_time origin)
{
    const struct oche_ns3_value *down = oche_ns3_given(job, OCHE_NS3_LINK_DOWN);
    const struct oche_topology *network = job->files->network;
    char text[OCHE_PORT_NAME_BYTES + 8], ends[2][OCHE_TOPOLOGY_NAME_BYTES];
    struct oche_error why;
    uint32_t node, port, parallel;

    if (down == NULL || down->three[0] == 0)
        return true;
    if (down->three[0] > MOST_DOWN_US)
        return oche_ns3_refuse(job, OCHE_NS3_LINK_DOWN, "%llu us; at most %llu",
                               (unsigned long long)down->three[0],
                               (unsigned long long)MOST_DOWN_US);
    if (network == NULL) {
        oche_translation_note(job->to, OCHE_NOTE_NO_COUNTERPART,
                              "LINK_DOWN: its nodes are those of TOPOLOGY_FILE");
        return true;
    }
    for (unsigned i = 0; i < 2; i++) {
        snprintf(ends[i], sizeof(ends[i]), "host%llu", (unsigned long long)down->three[1 + i]);
        if (oche_topology_find(network, ends[i]) == UINT32_MAX)
            snprintf(ends[i], sizeof(ends[i]), "switch%llu",
                     (unsigned long long)down->three[1 + i]);
    }
    snprintf(text, sizeof(text), "%s:%s", ends[0], ends[1]);
    if (!oche_topology_find_ports(network, text, &node, &port, &parallel, &why))
        return oche_ns3_refuse(
            job, OCHE_NS3_LINK_DOWN, "the topology has no link between nodes %llu and %llu",
            (unsigned long long)down->three[1], (unsigned long long)down->three[2]);
    if (parallel > 1) /* those programs know the last of them */
        snprintf(text, sizeof(text), "%s:%s/%u", ends[0], ends[1], parallel);
    oche_translation_set(
        job->to, "failures", NULL, "LINK_DOWN", "{link: \"%s\", at: %lluus}", text,
        (unsigned long long)(down->three[0] + (LINK_DOWN_FROM - origin) / OCHE_US));
    oche_translation_set(job->to, "routes", "reroute", "routes change at once there", "0");
    return true;
}

static void translate_duration(const struct oche_ns3_job *job, oche_time origin)
{
    const struct oche_ns3_value *stop = oche_ns3_given(job, OCHE_NS3_SIMULATOR_STOP_TIME);
    const double left = stop == NULL ? 0 : stop->real - (double)origin / (double)OCHE_SEC;

    if (stop == NULL)
        return;
    if (!job->files->has_flows) {
        oche_translation_note(job->to, OCHE_NOTE_NOT_NEEDED,
                              "SIMULATOR_STOP_TIME (the run ends with its flows)");
        return;
    }
    if (left > 0 && left <= MOST_RUN_S)
        oche_translation_set_unit(
            job->to, "", "duration",
            "SIMULATOR_STOP_TIME, from origin on; or until all flows are over", OCHE_UNIT_TIME,
            (uint64_t)(left * 1e9 + 0.5) * OCHE_NS);
    else
        oche_translation_note(job->to, OCHE_NOTE_ASSUMED,
                              "the run ends when all flows are over: SIMULATOR_STOP_TIME %g s %s",
                              stop->real,
                              left <= 0 ? "is before the first flow" : "is more than a day");
}

static bool translate_run(const struct oche_ns3_job *job)
{
    const oche_time origin = origin_of(job);
    const struct oche_ns3_value *seed = oche_ns3_given(job, OCHE_NS3_RANDOM_SEED);
    const struct oche_ns3_value *loss = oche_ns3_given(job, OCHE_NS3_ERROR_RATE_PER_LINK);

    if (seed != NULL && seed->count > UINT32_MAX)
        return oche_ns3_refuse(job, OCHE_NS3_RANDOM_SEED, "%llu; from 0 to %u",
                               (unsigned long long)seed->count, UINT32_MAX);
    if (seed != NULL)
        oche_translation_set(job->to, "", "seed", "RANDOM_SEED", "%llu",
                             (unsigned long long)seed->count);
    translate_duration(job, origin);
    if (job->files->has_flows && origin > 0)
        oche_translation_set_unit(job->to, "workload", "origin", "the first flow's start",
                                  OCHE_UNIT_TIME, origin);
    if (loss != NULL && loss->real > 1)
        return oche_ns3_refuse(job, OCHE_NS3_ERROR_RATE_PER_LINK, "%g; a probability from 0 to 1",
                               loss->real);
    if (loss != NULL && loss->real > 0)
        oche_translation_set_real(job->to, "loss", "probability", "ERROR_RATE_PER_LINK",
                                  loss->real);
    return translate_link_down(job, origin);
}

/* ---- the rest ---- */

static void note_balancing(const struct oche_ns3_job *job)
{
    static const char *const names[] = {[3] = "CONGA", [9] = "ConWeave"};
    enum { LB_DRILL = 2, LB_LETFLOW = 6 };
    const struct oche_ns3_value *mode = oche_ns3_given(job, OCHE_NS3_LB_MODE);

    if (mode == NULL)
        return;
    if (mode->count == 0) {
        oche_translation_note(job->to, OCHE_NOTE_NOT_NEEDED, "LB_MODE 0 (ECMP)");
    } else if (mode->count == LB_DRILL || mode->count == LB_LETFLOW) {
        oche_translation_set(job->to, "switch", "mechanisms", "LB_MODE", "%s",
                             mode->count == LB_DRILL ? "drill" : "letflow");
        oche_translation_set(job->to, "host", "reordering", "LB_MODE", "accept");
    } else {
        oche_translation_note(
            job->to, OCHE_NOTE_NO_COUNTERPART, "LB_MODE %llu: %s; here switches have ECMP by flow",
            (unsigned long long)mode->count,
            mode->count < OCHE_COUNT_OF(names) && names[mode->count] != NULL ? names[mode->count]
                                                                             : "not known");
    }
}

/* Notes, in a line, all keys with a role. */
static void note_role(const struct oche_ns3_job *job, enum oche_ns3_role role, const char *why)
{
    char names[1200];
    size_t used = 0;

    for (unsigned key = 0; key < OCHE_NS3_KEY_COUNT && used < sizeof(names); key++)
        if (oche_ns3_given(job, (enum oche_ns3_key)key) != NULL &&
            oche_ns3_key_role((enum oche_ns3_key)key) == role)
            used +=
                (size_t)snprintf(names + used, sizeof(names) - used, "%s%s", used > 0 ? ", " : "",
                                 oche_ns3_key_name((enum oche_ns3_key)key));
    if (used > 0)
        oche_translation_note(job->to, OCHE_NOTE_NOT_NEEDED, "%s (%s)", names, why);
}

static void note_strangers(const struct oche_ns3_job *job)
{
    const struct oche_ns3_config *config = job->config;
    char word[MOST_SHOWN];

    for (size_t i = 0; i < config->stranger_count && i < MOST_STRANGERS; i++) {
        oche_printable(config->strangers[i].word, word, sizeof(word));
        oche_translation_note(job->to, OCHE_NOTE_NOT_KNOWN, "%s (line %u)", word,
                              config->strangers[i].line);
    }
    if (config->stranger_count > MOST_STRANGERS)
        oche_translation_note(job->to, OCHE_NOTE_NOT_KNOWN, "and %zu more",
                              config->stranger_count - MOST_STRANGERS);
    if (config->twice > 0)
        oche_translation_note(job->to, OCHE_NOTE_ASSUMED,
                              "the last value counts, as there: %s is given again%s", config->again,
                              config->twice > 1 ? ", and others are" : "");
}

static void note_missing(const struct oche_ns3_job *job)
{
    static const enum oche_ns3_key keys[] = {
        OCHE_NS3_CC_MODE,   OCHE_NS3_BUFFER_SIZE, OCHE_NS3_PACKET_PAYLOAD_SIZE,
        OCHE_NS3_EWMA_GAIN, OCHE_NS3_RP_TIMER,    OCHE_NS3_RATE_AI,
        OCHE_NS3_RATE_HAI,  OCHE_NS3_MIN_RATE};
    char names[300];
    size_t used = 0;

    for (size_t i = 0; i < OCHE_COUNT_OF(keys); i++)
        if (oche_ns3_given(job, keys[i]) == NULL)
            used += (size_t)snprintf(names + used, sizeof(names) - used, "%s%s",
                                     used > 0 ? ", " : "", oche_ns3_key_name(keys[i]));
    if (used > 0)
        oche_translation_note(job->to, OCHE_NOTE_ASSUMED, "oche's defaults, as there is no %s",
                              names);
}

bool oche_ns3_translate(const struct oche_ns3_config *config, const char *name,
                        const struct oche_ns3_files *files, struct oche_translation *translation,
                        struct oche_error *error)
{
    const struct oche_ns3_job job = {
        .config = config, .name = name, .files = files, .to = translation, .error = error};

    if (!translate_run(&job) || !oche_ns3_translate_switch(&job) || !translate_host(&job) ||
        !oche_ns3_translate_congestion(&job))
        return false;
    note_balancing(&job);
    if (oche_ns3_given(&job, OCHE_NS3_PAUSE_TIME) != NULL)
        oche_translation_note(translation, OCHE_NOTE_NO_COUNTERPART,
                              "PAUSE_TIME: a PAUSE holds until its RESUME, and is repeated");
    if (oche_ns3_given(&job, OCHE_NS3_L2_CHUNK_SIZE) != NULL &&
        oche_ns3_count(&job, OCHE_NS3_L2_BACK_TO_ZERO, 0) == 0)
        oche_translation_note(translation, OCHE_NOTE_NOT_NEEDED,
                              "L2_CHUNK_SIZE (for L2_BACK_TO_ZERO 1)");
    if (oche_ns3_given(&job, OCHE_NS3_FLOWGEN_STOP_TIME) != NULL ||
        oche_ns3_given(&job, OCHE_NS3_FLOWGEN_START_TIME) != NULL)
        oche_translation_note(translation, OCHE_NOTE_NOT_NEEDED,
                              "FLOWGEN_START_TIME, FLOWGEN_STOP_TIME (the flows say when)");
    note_role(&job, OCHE_NS3_OUTPUT, "output");
    note_role(&job, OCHE_NS3_IGNORED, "no effect there");
    note_strangers(&job);
    note_missing(&job);
    return true;
}
