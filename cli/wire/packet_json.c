/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/wire/packet_json.h"

#include <arpa/inet.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/json_line.h"
#include "cli/wire/cm_words.h"
#include "core/wire/aeth.h"
#include "core/wire/cnp.h"
#include "core/wire/extension.h"
#include "core/wire/pfc_frame.h"
#include "core/wire/telemetry.h"

static void add_hex(struct json_object *json, const char *key, uint64_t value)
{
    char text[32];

    snprintf(text, sizeof(text), "0x%" PRIx64, value);
    oche_json_add_text(json, key, text);
}

/* ---- packets ---- */

static struct json_object *begin(const struct oche_wire_report *report,
                                 const struct oche_wire_one *one, const char *kind)
{
    struct json_object *json = oche_json_object();

    oche_json_add_int(json, "frame", report->frames);
    oche_json_add(json, "time_ns", oche_json_int(oche_wire_time_ns(report, one)));
    oche_json_add_text(json, "kind", kind);
    oche_json_add_int(json, "frame_bytes", one->header->len);
    return json;
}

static void end(struct oche_wire_report *report, struct json_object *json)
{
    fputs(report->listed++ == 0 ? "{\"packets\":[\n" : ",\n", stdout);
    oche_json_print(json, stdout);
}

static void add_addresses(struct json_object *json, const struct oche_frame *facts)
{
    char src[INET6_ADDRSTRLEN], dst[INET6_ADDRSTRLEN];

    oche_wire_addresses(facts, src, dst);
    oche_json_add_text(json, "src", src);
    oche_json_add_text(json, "dst", dst);
}

static void add_extensions(struct json_object *json, const struct oche_packet *packet,
                           uint32_t flags)
{
    if ((flags & OCHE_OP_HAS(SACK)) != 0) {
        const struct oche_sack sack = oche_sack_get(packet);

        oche_json_add_int(json, "sack_first", sack.first);
        add_hex(json, "sack_bits", sack.bits);
    }
    if ((flags & OCHE_OP_HAS(SHARE)) != 0) {
        const struct oche_share share = oche_share_get(packet);

        oche_json_add_int(json, "share_senders", share.senders);
        oche_json_add_int(json, "share_tenant", share.tenant);
        oche_json_add_int(json, "share_sequence", share.sequence);
    }
    if ((flags & OCHE_OP_HAS(TRIM)) != 0)
        oche_json_add_text(json, "trimmed",
                           oche_trim_get(packet) == OCHE_TRIMMED_LAST_HOP ? "last_hop"
                                                                          : "on_the_way");
    if ((flags & OCHE_OP_HAS(PLACE)) != 0) {
        const struct oche_place place = oche_place_get(packet);

        oche_json_add_int(json, "place_receive", place.receive);
        oche_json_add_int(json, "place_offset", place.offset);
    }
    if ((flags & OCHE_OP_HAS(GROUP)) != 0) {
        const struct oche_group group = oche_group_get(packet);

        oche_json_add_int(json, "group", group.id);
        oche_json_add_int(json, "group_tenant", oche_group_tenant(packet));
        oche_json_add_int(json, "group_senders", group.count);
    }
    if ((flags & OCHE_OP_HAS(RATE)) != 0)
        oche_json_add_int(json, "rate_bps",
                          UINT64_C(10000) * oche_rate_echo_get(packet).rate_10kbps);
    else if (oche_packet_trailer_bytes(packet) == OCHE_TRAILER_BYTES)
        oche_json_add_int(json, "rate_bps", UINT64_C(10000) * packet->trailer.rate_10kbps);
}

static void add_telemetry(struct json_object *json, const struct oche_telemetry *telemetry)
{
    struct json_object *hops = json_object_new_array();

    for (unsigned i = 0; i < oche_telemetry_count(telemetry); i++) {
        const struct oche_hop hop = oche_telemetry_hop(telemetry, i);
        struct json_object *one = json_object_new_object();

        oche_json_add_int(one, "rate_bps", hop.rate_bps);
        oche_json_add_int(one, "time_ns", hop.time_ns);
        oche_json_add_int(one, "sent_bytes", hop.sent_bytes);
        oche_json_add_int(one, "queue_bytes", hop.queue_bytes);
        json_object_array_add(hops, one);
    }
    json_object_object_add(json, "int", hops);
}

static void add_headers(struct json_object *json, const struct oche_packet *packet,
                        const struct oche_frame *facts)
{
    const uint32_t flags = oche_opcode(packet->opcode)->flags;
    uint32_t psn;

    if (packet->opcode == OCHE_CNP && oche_cnp_get_psn(packet, &psn))
        oche_json_add_int(json, "expects_psn", psn);
    if ((flags & (OCHE_OP_HAS(RETH) | OCHE_OP_HAS(ATOMIC))) != 0) {
        add_hex(json, "va", packet->reth.va);
        add_hex(json, "rkey", packet->reth.rkey);
    }
    if ((flags & OCHE_OP_HAS(RETH)) != 0)
        oche_json_add_int(json, "length", packet->reth.dma_length);
    if ((flags & OCHE_OP_HAS(ATOMIC)) != 0) {
        add_hex(json, "compare", packet->atomic.compare);
        add_hex(json, "swap_add", packet->atomic.swap_add);
    }
    if ((flags & OCHE_OP_HAS(AETH)) != 0) {
        oche_json_add_text(json, "syndrome", oche_syndrome_name(oche_aeth_syndrome(packet)));
        oche_json_add_int(json, "msn", oche_aeth_msn(packet));
    }
    if ((flags & OCHE_OP_HAS(ATOMIC_ACK)) != 0)
        add_hex(json, "original", packet->original);
    if ((flags & OCHE_OP_HAS(IMM)) != 0)
        add_hex(json, "imm", packet->imm);
    if ((flags & OCHE_OP_HAS(IETH)) != 0)
        add_hex(json, "invalidate", packet->imm);
    if ((flags & OCHE_OP_HAS(DETH)) != 0) {
        oche_json_add_int(json, "src_qp", packet->deth.src_qpn);
        add_hex(json, "qkey", packet->deth.qkey);
    }
    if (oche_wire_is_cm(packet))
        oche_wire_json_cm(json, packet);
    add_extensions(json, packet, flags);
    if ((flags & OCHE_OP_HAS(INT)) != 0)
        add_telemetry(json, &packet->telemetry);
    else if (oche_packet_trailer_bytes(packet) == OCHE_INT_BYTES)
        add_telemetry(json, &facts->telemetry);
}

static void add_verdict(struct json_object *json, const struct oche_wire_one *one,
                        enum oche_wire_verdict verdict)
{
    static const char *const words[] = {
        [OCHE_VERDICT_RIGHT] = "right", [OCHE_VERDICT_WRONG] = "wrong", [OCHE_VERDICT_CUT] = "cut"};

    oche_json_add_text(json, "verdict", words[verdict]);
    if (verdict == OCHE_VERDICT_CUT)
        oche_json_add_int(json, "captured_bytes", one->header->caplen);
    else if (verdict == OCHE_VERDICT_WRONG && one->error != OCHE_WIRE_OK)
        oche_json_add_text(json, "why", oche_wire_error_text(one->error));
    else if (verdict == OCHE_VERDICT_WRONG)
        oche_json_add_text(json, "why", "encoded again differs");
}

void oche_wire_json_packet(struct oche_wire_report *report, const struct oche_wire_one *one,
                           enum oche_wire_verdict verdict)
{
    const struct oche_packet *packet = &one->packet;
    struct json_object *json = begin(report, one, "roce"), *flags = oche_json_array(0);
    const char *names[OCHE_WIRE_FLAGS];
    const unsigned count = oche_wire_flags(packet, names);

    add_addresses(json, &one->facts);
    oche_json_add_text(json, "opcode", oche_opcode_name(packet->opcode));
    oche_json_add_int(json, "qp", packet->dest_qpn);
    oche_json_add_int(json, "psn", packet->psn);
    for (unsigned i = 0; i < count; i++)
        oche_json_push(flags, oche_json_text(names[i]));
    oche_json_add(json, "flags", flags);
    oche_json_add_int(json, "payload_bytes", packet->payload_bytes);
    oche_json_add(json, "vlan", oche_json_truth(one->link.vlans > 0));
    if (one->link.tunnels > 0)
        oche_json_add_text(json, "tunnel", one->link.tunnel.kind);
    if (one->link.tunnels > 0 && one->link.tunnel.has_id)
        oche_json_add_int(json, "tunnel_id", one->link.tunnel.id);
    add_headers(json, packet, &one->facts);
    oche_json_add(json, "retransmission", oche_json_truth(one->again));
    add_verdict(json, one, verdict);
    if (verdict == OCHE_VERDICT_WRONG && one->error == OCHE_WIRE_ICRC) {
        add_hex(json, "icrc", one->icrc);
        add_hex(json, "icrc_should", one->icrc_should);
    }
    if (verdict == OCHE_VERDICT_WRONG && one->differs_at >= 0)
        oche_json_add_int(json, "differs_at", (uint64_t)one->differs_at);
    end(report, json);
}

void oche_wire_json_unread(struct oche_wire_report *report, const struct oche_wire_one *one,
                           enum oche_wire_verdict verdict)
{
    struct json_object *json = begin(report, one, "roce");

    /* such an error is found after IP and UDP were read, so their fields are known */
    if (verdict == OCHE_VERDICT_WRONG && one->error >= OCHE_WIRE_ALIGNMENT)
        add_addresses(json, &one->facts);
    if (verdict == OCHE_VERDICT_WRONG && one->error == OCHE_WIRE_OPCODE)
        oche_json_add_int(json, "opcode_number", one->packet.opcode);
    add_verdict(json, one, verdict);
    end(report, json);
}

void oche_wire_json_pfc(struct oche_wire_report *report, const struct oche_wire_one *one)
{
    struct json_object *json = begin(report, one, "pfc"), *classes = oche_json_array(0);

    for (unsigned cls = 0; cls < OCHE_CLASSES; cls++)
        if (oche_pfc_has(&one->packet, cls)) {
            struct json_object *pause = oche_json_object();

            oche_json_add_int(pause, "class", cls);
            oche_json_add_int(pause, "quanta", one->packet.pfc.quanta[cls]);
            oche_json_push(classes, pause);
        }
    oche_json_add(json, "classes", classes);
    end(report, json);
}

/* ---- the summary ---- */

static struct json_object *opcodes_json(const struct oche_wire_report *report)
{
    struct json_object *list = oche_json_array(0);

    for (unsigned opcode = 0; opcode < OCHE_OPCODES; opcode++) {
        struct json_object *one;

        if (report->packets[opcode] == 0)
            continue;
        one = oche_json_object();
        oche_json_add_text(one, "opcode", oche_opcode_name((uint8_t)opcode));
        oche_json_add_int(one, "packets", report->packets[opcode]);
        oche_json_add_int(one, "payload_bytes", report->bytes[opcode]);
        oche_json_push(list, one);
    }
    return list;
}

/* Adds an entry {"why", "packets"} to the list unless it counts none. */
static void push_count(struct json_object *list, const char *why, uint64_t count)
{
    struct json_object *one;

    if (count == 0)
        return;
    one = oche_json_object();
    oche_json_add_text(one, "why", why);
    oche_json_add_int(one, "packets", count);
    oche_json_push(list, one);
}

static struct json_object *counts_json(const struct oche_wire_report *report)
{
    struct json_object *json = oche_json_object(), *naks = oche_json_array(0),
                       *wrong = oche_json_array(0);
    const struct {
        const char *name;
        uint64_t value;
    } counts[] = {{"frames", report->frames},
                  {"roce", report->roce},
                  {"pfc", report->pfc},
                  {"neither", report->other},
                  {"retransmissions", report->retransmissions},
                  {"rnr_naks", report->rnr_naks},
                  {"cnps", report->packets[OCHE_CNP]},
                  {"ce_marks", report->ce},
                  {"cut_short", report->cut},
                  {"wrong", report->wrong}};

    for (size_t i = 0; i < OCHE_COUNT_OF(counts); i++)
        oche_json_add_int(json, counts[i].name, counts[i].value);
    for (unsigned code = 0; code <= OCHE_WIRE_NAK_KINDS; code++)
        push_count(naks, oche_wire_nak_name(code), report->naks[code]);
    oche_json_add(json, "naks", naks);
    for (int error = 0; error < OCHE_WIRE_ERROR_COUNT; error++)
        push_count(wrong, oche_wire_error_text((enum oche_wire_error)error),
                   report->wrong_by[error]);
    push_count(wrong, "encoded again differs", report->differ);
    oche_json_add(json, "wrong_by", wrong);
    oche_json_add(json, "opcodes", opcodes_json(report));
    return json;
}

void oche_wire_json_summary(struct oche_wire_report *report)
{
    fputs(report->listed == 0 ? "{\"packets\":[],\"kind\":\"wire\",\"capture\":"
                              : "\n],\"kind\":\"wire\",\"capture\":",
          stdout);
    struct json_object *head = oche_json_object();

    oche_json_add_text(head, "path", report->options.path);
    oche_json_add(head, "whole", oche_json_truth(report->whole));
    oche_json_print(head, stdout);
    fputs(",\"summary\":", stdout);
    oche_json_print(counts_json(report), stdout);
    fputs("}\n", stdout);
}
