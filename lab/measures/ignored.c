/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/measures/ignored.h"

#include <stdio.h>
#include <string.h>

/* An endpoint that sends from queue pairs uses all of these: `recovery`, and keys of `host`. */
static const char *const of_queue_pairs[] = {
    "recovery",         "mtu",           "ack_every",         "ack_priority",
    "window",           "ack_timeout",   "limiter_lag",       "resend_one_verb_at_a_time",
    "timeouts",         "timer_restart", "retry_count",       "outstanding_reads",
    "doorbell_latency", "dma_latency",   "completion_latency"};

static const char *prefix_of(const char *key)
{
    return key == of_queue_pairs[0] ? "" : "host.";
}

static void name(char *text, size_t text_bytes, const char *before, const char *key)
{
    size_t used = strlen(text);

    snprintf(text + used, text_bytes - used, "%s%s%s", used == 0 ? "" : ", ", before, key);
}

static bool has_initial_rate(const struct oche_flows *flows)
{
    for (OCHE_EACH_MADE_FLOW(i, flows)) /* all flows of a source have the same */
        if (flows->plan[i].initial_rate_bps > 0)
            return true;
    return false;
}

/*
 * True if the scenario gives a value other than the default. A value equal to the default cannot be
 * detected.
 */
static bool is_given(const struct oche_world_config *config, const char *key)
{
    if (strcmp(key, "recovery") == 0)
        return config->recovery != NULL && strcmp(config->recovery->name, "go_back_n") != 0;
    const struct oche_param *param = oche_param_find(&oche_host_params, key);
    union oche_value preset =
        oche_param_default(&oche_host_params, param, (enum oche_preset)config->hosts.preset);

    return oche_param_get(param, &config->hosts).u != preset.u;
}

/* Names keys that an endpoint with queue pairs does not use because of a setting of its own. */
static void add_idle(const struct oche_world_config *config, char *text, size_t text_bytes)
{
    const char *setting = NULL;
    char keys[320] = "";

    for (size_t i = 0; i < OCHE_COUNT_OF(of_queue_pairs); i++) {
        const char *key = of_queue_pairs[i];
        const char *by = config->endpoint->idles(config->endpoint_params, key);

        if (by == NULL || !is_given(config, key))
            continue;
        setting = by;
        name(keys, sizeof(keys), prefix_of(key), key);
    }
    if (setting == NULL)
        return;
    size_t used = strlen(text);
    snprintf(text + used, text_bytes - used, "%swith %s nothing comes of %s", used == 0 ? "" : "; ",
             setting, keys);
}

void oche_ignored(const struct oche_world *world, char *text, size_t text_bytes)
{
    const struct oche_world_config *config = oche_world_config(world);
    char keys[320] = "";

    text[0] = '\0';
    if (config->endpoint == NULL)
        return;
    const bool roce = config->endpoint->roce;
    if (has_initial_rate(oche_world_flows(world)))
        name(keys, sizeof(keys), "workload.", "initial_rate");
    for (size_t i = 0; !roce && i < OCHE_COUNT_OF(of_queue_pairs); i++)
        if (is_given(config, of_queue_pairs[i]))
            name(keys, sizeof(keys), prefix_of(of_queue_pairs[i]), of_queue_pairs[i]);
    if (config->measure.ways && !roce)
        name(keys, sizeof(keys), "measure.", "ways");
    if (keys[0] != '\0')
        snprintf(text, text_bytes,
                 roce ? "the library above queue pairs decides, so nothing comes of %s"
                      : "hosts have no queue pairs, so nothing comes of %s",
                 keys);
    if (config->endpoint->idles != NULL)
        add_idle(config, text, text_bytes);
}
