/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Published sizes of packet memories. Makers of chips rarely publish them, so most of these are
 * from makers of switches with one such chip; a MB is taken as 10^6 bytes, as in the DCQCN paper.
 *
 * Jericho and its kind have two memories: packets wait at the ingress, on the chip, and go to HBM
 * beside it when that fills. A switch here has one memory that all ports share, so `buffer_bytes`
 * is the one on the chip, and HBM is only mentioned.
 */
#include "fabric/chips.h"

#include <string.h>

#include "fabric/switch.h"

#define MB       UINT64_C(1000000)
#define WARNER   "J. Warner, people.ucsc.edu/~warner/Bufs/"
#define BURAGLIO "port-buffers.forwardingplane.net/concepts/"
#define JUNIPER  "Juniper, Understanding CoS Buffer Configuration: "
#define SONIC    "NVIDIA's buffers_defaults of SONiC (sonic-buildimage, device/mellanox): "
#define DEEP     "the memory on the chip; HBM, and that packets wait at the ingress, are left out"

const struct oche_chip oche_chips[] = {
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
    {"spectrum3", "NVIDIA Spectrum-3 (SN4700)", 60817392, 400 * OCHE_GBPS, 32, true, SONIC "SN4700",
     "the pool of lossless queues; others have 64 MB for the whole chip"},
    {"spectrum4", "NVIDIA Spectrum-4 (SN5600)", 158229504, 800 * OCHE_GBPS, 64, true,
     SONIC "SN5600", "the pool of lossless queues; others have 128 or 160 MB for the whole chip"},
    {"jericho2", "Broadcom Jericho2 (BCM88690)", 16 * MB, 400 * OCHE_GBPS, 12, false,
     WARNER "7280R3.html; ports of Arista's 7280CR3-32P4", DEEP, .hbm_bytes = 8000 * MB},
    {"jericho3", "Broadcom Jericho 3 (BCM88830)", 48 * MB, 400 * OCHE_GBPS, 0, false,
     BURAGLIO "broadcom-jericho3, which has \"about 48 MB\" and \"up to 32 GB\"", DEEP,
     .hbm_bytes = 32000 * MB},
    /* Last: its memory is not known, so a switch of a scenario cannot be given it by name. */
    {"tomahawk6", "Broadcom Tomahawk 6 (BCM78910)", 0, 1600 * OCHE_GBPS, 64, true,
     "Broadcom's announcement (102.4 Tbit/s); no source at hand has its memory", NULL},
};

const size_t oche_chip_count = OCHE_COUNT_OF(oche_chips);
const char *const oche_chip_names[] = {
    "auto",      "trident2",  "trident3",  "trident4", "tomahawk",  "tomahawk2",
    "tomahawk3", "tomahawk4", "tomahawk5", "spectrum", "spectrum2", "xpliant",
    "spectrum3", "spectrum4", "jericho2",  "jericho3", NULL};

/* Chips that `auto` chooses from, each with more ports or faster ones than the one before. */
static const char *const line_up[] = {"trident2",  "trident3",  "tomahawk2",
                                      "tomahawk3", "tomahawk4", "tomahawk5"};

const struct oche_chip *oche_chip_find(const char *name)
{
    for (size_t i = 0; i < oche_chip_count; i++)
        if (strcmp(oche_chips[i].name, name) == 0)
            return &oche_chips[i];
    return NULL;
}

bool oche_chip_has_ports(const struct oche_chip *chip, const struct oche_switch_config *config)
{
    unsigned quarters = 0;

    for (unsigned port = 0; port < config->port_count; port++) {
        uint64_t rate = config->ports[port].rate_bps;

        if (rate > chip->rate_bps)
            return false;
        quarters += 4 * rate <= chip->rate_bps ? 1 : 2 * rate <= chip->rate_bps ? 2 : 4;
    }
    return quarters <= 4 * chip->ports;
}

const struct oche_chip *oche_chip_for(const struct oche_switch_config *config)
{
    const struct oche_chip *chip = NULL;

    if (config->params->chip != 0)
        return oche_chip_find(oche_chip_names[config->params->chip]);
    for (size_t i = 0; i < OCHE_COUNT_OF(line_up); i++) {
        chip = oche_chip_find(line_up[i]);
        if (oche_chip_has_ports(chip, config))
            break;
    }
    return chip;
}

uint64_t oche_switch_memory(const struct oche_switch_config *config)
{
    if (config->params->buffer_bytes != OCHE_NEVER)
        return config->params->buffer_bytes;
    return oche_chip_for(config)->buffer_bytes;
}
