/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/measures/ignored.h"

#include <stdio.h>
#include <string.h>

static void name(char *text, size_t text_bytes, const char *before, const char *key)
{
    size_t used = strlen(text);

    snprintf(text + used, text_bytes - used, "%s%s%s", used == 0 ? "" : ", ", before, key);
}

static bool has_initial_rate(const struct oche_flows *flows)
{
    for (uint32_t i = 0; i < flows->count; i++)
        if (flows->plan[i].initial_rate_bps > 0)
            return true;
    return false;
}

void oche_ignored(const struct oche_world *world, char *text, size_t text_bytes)
{
    /* An endpoint that sends from queue pairs uses all of these. */
    static const char *const of_hosts[] = {"mtu",         "ack_every",
                                           "window",      "ack_timeout",
                                           "limiter_lag", "resend_one_verb_at_a_time",
                                           "timeouts",    "retry_count"};
    const struct oche_world_config *config = oche_world_config(world);
    char keys[160] = "";

    text[0] = '\0';
    if (config->endpoint == NULL)
        return;
    /* The default cannot be told from what was given. */
    if (!config->endpoint->roce && config->recovery != NULL &&
        strcmp(config->recovery->name, "go_back_n") != 0)
        name(keys, sizeof(keys), "", "recovery");
    if (has_initial_rate(oche_world_flows(world)))
        name(keys, sizeof(keys), "workload.", "initial_rate");
    const bool roce = config->endpoint->roce;
    for (size_t i = 0; !roce && i < OCHE_COUNT_OF(of_hosts); i++) {
        const struct oche_param *param = oche_param_find(&oche_host_params, of_hosts[i]);

        if (oche_param_get(param, &config->hosts).u != param->preset.u)
            name(keys, sizeof(keys), "host.", of_hosts[i]);
    }
    if (config->measure.ways && !roce)
        name(keys, sizeof(keys), "measure.", "ways");
    if (keys[0] != '\0')
        snprintf(text, text_bytes,
                 roce ? "the library above queue pairs decides, so nothing comes of %s"
                      : "hosts have no queue pairs, so nothing comes of %s",
                 keys);
}
