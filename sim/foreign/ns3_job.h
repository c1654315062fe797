/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the files that translate a configuration of HPCC's simulator. */
#ifndef OCHE_SIM_FOREIGN_NS3_JOB_H
#define OCHE_SIM_FOREIGN_NS3_JOB_H

#include "sim/foreign/ns3_scenario.h"

struct oche_ns3_job {
    const struct oche_ns3_config *config;
    const char *name; /* of the file, for errors */
    const struct oche_ns3_files *files;
    struct oche_translation *to;
    struct oche_error *error;
};

static inline const struct oche_ns3_value *oche_ns3_given(const struct oche_ns3_job *job,
                                                          enum oche_ns3_key key)
{
    const struct oche_ns3_value *value = &job->config->value[key];

    return value->line == 0 ? NULL : value;
}

/* Returns a COUNT, or `otherwise` if the key is not there. */
static inline uint64_t oche_ns3_count(const struct oche_ns3_job *job, enum oche_ns3_key key,
                                      uint64_t otherwise)
{
    const struct oche_ns3_value *value = oche_ns3_given(job, key);

    return value == NULL ? otherwise : value->count;
}

/* Writes "NAME:LINE: KEY: …", for a key that is there. Returns false. */
bool oche_ns3_refuse(const struct oche_ns3_job *job, enum oche_ns3_key key, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* ns3_switch.c: marking, buffers and PFC. */
bool oche_ns3_translate_switch(const struct oche_ns3_job *job);
/* ns3_congestion.c: the congestion control. */
bool oche_ns3_translate_congestion(const struct oche_ns3_job *job);

#endif
