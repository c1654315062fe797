/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Published sizes of packet memories. Makers of chips rarely publish them, so most of these are
 * from makers of switches with one such chip; a MB is taken as 10^6 bytes, as in the DCQCN paper.
 *
 * Left out: chips whose packets wait at the ingress in memory of their own (Jericho and its kind),
 * for which the calculation for shared memory does not apply, and Spectrum-4, for which sources
 * give 128 and 160 MB.
 */
#include "cli/buffers/presets.h"

#include <string.h>

#include "params/figures.h"
#include "params/table.h"
#include "params/units.h"

#define MB       UINT64_C(1000000)
#define WARNER   "J. Warner, people.ucsc.edu/~warner/Bufs/"
#define BURAGLIO "port-buffers.forwardingplane.net/concepts/"
#define JUNIPER  "Juniper, Understanding CoS Buffer Configuration: "

static const struct oche_buffers_preset presets[] = {
    {"trident2", "Broadcom Trident II (BCM56850)", 12 * MB, 40 * OCHE_GBPS, 32, true,
     "DCQCN sec 4 (Arista 7050QX32)", NULL},
    {"trident3", "Broadcom Trident 3 X7 (BCM56870)", 32 * MB, 100 * OCHE_GBPS, 32, true,
     JUNIPER "QFX5120", NULL},
    {"trident4", "Broadcom Trident 4 X11 (BCM56880)", 132 * MB, 400 * OCHE_GBPS, 32, true,
     JUNIPER "QFX5130", NULL},
    {"tomahawk", "Broadcom Tomahawk (BCM56960)", 16 * MB, 100 * OCHE_GBPS, 32, true,
     JUNIPER "QFX5200-32C",
     "four pools of 4 MB, of which a port has one: --buffer 4MB --ports 8 is the worst case"},
    {"tomahawk2", "Broadcom Tomahawk 2 (BCM56970)", 42 * MB, 100 * OCHE_GBPS, 64, true,
     JUNIPER "QFX5210", "other sources have it in pools, as Tomahawk"},
    {"tomahawk3", "Broadcom Tomahawk 3 (BCM56980)", 64 * MB, 400 * OCHE_GBPS, 32, true,
     JUNIPER "QFX5220", NULL},
    {"tomahawk4", "Broadcom Tomahawk 4 (BCM56990)", 113660000, 400 * OCHE_GBPS, 64, false,
     BURAGLIO "broadcom-tomahawk4, from switches' specifications",
     "Juniper has 112 MB for the QFX5230"},
    {"tomahawk5", "Broadcom Tomahawk 5 (BCM78900)", 165200000, 800 * OCHE_GBPS, 64, true,
     BURAGLIO "broadcom-tomahawk5, from FS N9600-64OD", "Juniper has 165 MB for the QFX5240"},
    {"spectrum", "Mellanox Spectrum (SN2700)", 16 * MB, 100 * OCHE_GBPS, 32, false,
     WARNER "mellanox-spectrum", "one pool"},
    {"spectrum2", "Mellanox Spectrum-2 (SN3700)", 42 * MB, 200 * OCHE_GBPS, 32, false,
     "router-switch.com/faq, SN2700 against SN3700", "one pool"},
    {"xpliant", "Cavium XPliant (Arista 7160-32CQ)", 24 * MB, 100 * OCHE_GBPS, 32, true,
     "Arista 7160 architecture paper, in " WARNER "Arista7160.html", "one pool"},
};

const struct oche_buffers_preset *oche_buffers_preset_find(const char *name, const char **nearest)
{
    const char *names[OCHE_COUNT_OF(presets)];

    for (size_t i = 0; i < OCHE_COUNT_OF(presets); i++) {
        if (strcmp(presets[i].name, name) == 0)
            return &presets[i];
        names[i] = presets[i].name;
    }
    *nearest = oche_nearest_word(name, names, OCHE_COUNT_OF(presets));
    return NULL;
}

void oche_buffers_presets_print(FILE *out)
{
    struct oche_table *table = oche_table_create(4);

    oche_table_cell(table, "preset");
    oche_table_cell(table, "memory");
    oche_table_cell(table, "ports");
    oche_table_cell(table, "sure");
    oche_table_rule(table);
    for (size_t i = 0; i < OCHE_COUNT_OF(presets); i++) {
        const struct oche_buffers_preset *preset = &presets[i];

        oche_table_cell(table, "%s", preset->name);
        oche_table_cell(table, "%s", oche_figure_bytes(preset->buffer_bytes).text);
        oche_table_cell(table, "%u x %s", preset->ports, oche_figure_rate(preset->rate_bps).text);
        oche_table_cell(table, "%s", preset->sure ? "yes" : "no");
    }
    oche_table_print(table, out);
    oche_table_free(table);
    fputs(
        "\nsure: yes is from the maker of the chip or of a switch with it, no is second hand. The\n"
        "chips, and where their memory's size stands:\n",
        out);
    for (size_t i = 0; i < OCHE_COUNT_OF(presets); i++) {
        fprintf(out, "  %-10s %s\n             %s\n", presets[i].name, presets[i].chip,
                presets[i].source);
        if (presets[i].note != NULL)
            fprintf(out, "             %s\n", presets[i].note);
    }
}
