/* SPDX-License-Identifier: Apache-2.0 */
/* Writes a profile of an adapter; see learn.h. */
#include "lab/check_nic/learn.h"

#include <inttypes.h>
#include <string.h>

#include "core/wire/frame.h"
#include "core/wire/opcode.h"
#include "params/printable.h"

static oche_time on_line(uint64_t frame_bytes, uint64_t rate_bps)
{
    return oche_time_of_bytes(frame_bytes + OCHE_GAP_BYTES, rate_bps);
}

/* Returns the time from the switch to an adapter and back, of a data packet and a short one. */
static oche_time links_of(const struct oche_nic_test *test, oche_time delay)
{
    return 2 * delay +
           on_line(oche_frame_bytes(OCHE_RC_WRITE_MIDDLE, (uint32_t)test->mtu_bytes, false),
                   test->port_bps) +
           on_line(oche_frame_bytes(OCHE_RC_ACK, 0, false), test->port_bps);
}

/* The lines of the file, and what they have in common. */
struct writer {
    FILE *out;
    const char *source;
    oche_time links;
};

/* A delay that is longer than this is none of an adapter's (and no profile may have it). */
#define MOST_DELAY OCHE_SEC

/* `least`: the adapter's own queue comes on top, so the least is nearest to its delay. */
static void write_latency(const struct writer *writer, const char *habit, const char *of,
                          const struct oche_nic_samples *samples, bool least)
{
    oche_time value;

    if (samples->count == 0) {
        fprintf(writer->out, "# %s: the test shows none\n", habit);
        return;
    }
    value = least ? samples->list[0] : oche_nic_median(samples);
    if (value > MOST_DELAY) {
        fprintf(writer->out, "# %s: the times of the capture are not safe\n", habit);
        return;
    }
    value = value > writer->links ? value - writer->links : 0;
    fprintf(writer->out,
            "%s: {value: %" PRIu64 "ns, class: measured, source: \"%s: %s of %zu %s, less %" PRIu64
            " ns of links\"}\n",
            habit, value / OCHE_NS, writer->source, least ? "least" : "median", samples->count, of,
            writer->links / OCHE_NS);
}

static const char *scope_name(unsigned scope)
{
    static const char *const names[OCHE_NIC_SCOPES] = {"queue_pair", "destination", "port"};

    return names[scope];
}

static unsigned scopes_that_fit(const struct oche_nic_cnps *cnps, bool naks)
{
    unsigned count = 0;

    for (unsigned i = 0; i < OCHE_NIC_SCOPES; i++)
        count += cnps->fits[naks][i];
    return count;
}

static void write_scope(const struct writer *writer, const struct oche_nic_cnps *cnps, bool naks)
{
    /* The interval is what the numbers were judged with, and the test says it, not the packets. */
    const unsigned fits = scopes_that_fit(cnps, naks);
    bool suppressed = false;

    for (unsigned i = 0; i < OCHE_NIC_SCOPES; i++)
        suppressed = suppressed || cnps->suppressed[naks][i];
    if (fits != 1) {
        fprintf(writer->out, "# cnp_scope: %u scopes fit; more marks, on more queue pairs, tell\n",
                fits);
        return;
    }
    fprintf(writer->out,
            "cnp_interval: {value: %" PRIu64
            "ns, class: assumed, source: \"%s: as the test has it; the CNPs fit it\"}\n",
            cnps->interval / OCHE_NS, writer->source);
    for (unsigned i = 0; i < OCHE_NIC_SCOPES; i++)
        if (cnps->fits[naks][i])
            fprintf(writer->out,
                    "cnp_scope: {value: %s, class: measured, source: \"%s: %" PRIu64
                    " CNPs, as many as this scope has\"}\n",
                    scope_name(i), writer->source, cnps->sent);
}

static void write_cnps(const struct writer *writer, const struct oche_check_nic *check)
{
    const struct oche_nic_cnps *cnps = &check->cnps;
    const bool with = scopes_that_fit(cnps, true) > 0, without = scopes_that_fit(cnps, false) > 0;

    if (cnps->sent == 0) {
        fprintf(writer->out, "# CNPs: the test shows none\n");
        return;
    }
    if (cnps->naks == 0 || with == without)
        fprintf(writer->out, "# nak_brings_cnp: the test does not tell\n");
    else
        fprintf(writer->out,
                "nak_brings_cnp: {value: %s, class: measured, source: \"%s: %" PRIu64
                " CNPs after %" PRIu64 " marks and %" PRIu64 " NACKs\"}\n",
                with ? "true" : "false", writer->source, cnps->sent, cnps->marks, cnps->naks);
    write_scope(writer, cnps, with && !without);
    write_latency(writer, "cnp_delay", "CNPs after their marks", &cnps->delays, false);
}

/* Writes a text that may stand in double quotes. */
static void quotable(const char *text, char *shown, size_t bytes)
{
    oche_printable(text, shown, bytes);
    for (char *at = shown; *at != '\0'; at++)
        if (*at == '"' || *at == '\\')
            *at = '_';
}

void oche_nic_learn(const struct oche_nic_test *test, const struct oche_check_nic *check,
                    oche_time delay, const char *source, FILE *out)
{
    const struct oche_nic_end *end = oche_nic_receiver(test);
    const bool reads = oche_nic_test_reads(test);
    char shown[256], name[128];
    const struct writer writer = {.out = out, .source = shown, .links = links_of(test, delay)};

    quotable(source, shown, sizeof(shown));
    quotable(end->name, name, sizeof(name));
    fprintf(out, "title: \"%s, as seen in %s\"\n", name, shown);
    write_latency(&writer, reads ? "read_nak_delay" : "nak_delay",
                  reads ? "READs asked again" : "NACKs",
                  &check->latencies[reads][OCHE_LATENCY_GENERATION], false);
    if (strcmp(test->requester.name, test->responder.name) != 0)
        fprintf(out, "# nak_reaction: the sender is another adapter\n");
    else if (!reads)
        write_latency(&writer, "nak_reaction", "retransmissions",
                      &check->latencies[reads][OCHE_LATENCY_REACTION], true);
    write_cnps(&writer, check);
}
