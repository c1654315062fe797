/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/wire/cm_words.h"

#include <arpa/inet.h>
#include <inttypes.h>
#include <stdio.h>

#include "cli/json_line.h"
#include "core/cm/mad.h"
#include "core/wire/opcode.h"

bool oche_wire_is_cm(const struct oche_packet *packet)
{
    return packet->opcode == OCHE_UD_SEND_ONLY && packet->dest_qpn == OCHE_CM_QPN &&
           (packet->ext & OCHE_EXT_PAYLOAD) != 0;
}

/* Reads the rdma_cm header before the private data. Returns false if there is none. */
static bool cma_of(const struct oche_cm_message *message, struct oche_cma_header *header)
{
    return (message->kind == OCHE_CM_REQ || message->kind == OCHE_CM_SIDR_REQ) &&
           oche_cma_is_service(message->service_id) &&
           oche_cma_read(message->private_data, message->private_bytes, header);
}

static const char *address_text(const struct oche_cma_header *header, const uint8_t *address,
                                char *text)
{
    if (header->ipv6)
        return inet_ntop(AF_INET6, address, text, INET6_ADDRSTRLEN);
    return inet_ntop(AF_INET, address + 12, text, INET6_ADDRSTRLEN);
}

/* ---- text ---- */

static void print_service(const struct oche_cm_message *message)
{
    struct oche_cma_header header;
    char from[INET6_ADDRSTRLEN], to[INET6_ADDRSTRLEN];

    printf(" service 0x%" PRIx64, message->service_id);
    if (!cma_of(message, &header))
        return;
    printf(" (port %u), rdma_cm %s port %u to %s", (unsigned)(message->service_id & 0xffff),
           address_text(&header, header.source, from), header.port,
           address_text(&header, header.destination, to));
}

static void print_fields(const struct oche_cm_message *message)
{
    static const char *const transports[] = {"RC", "UC", "RD", "XRC"};

    switch (message->kind) {
    case OCHE_CM_REQ:
        printf(" %s qp 0x%06" PRIx32 " psn %" PRIu32 " mtu %u retries %u rnr %u reads %u, %u",
               transports[message->transport], message->qpn, message->starting_psn,
               128u << message->mtu, message->retry_count, message->rnr_retry,
               message->responder_resources, message->initiator_depth);
        print_service(message);
        break;
    case OCHE_CM_REP:
        printf(" qp 0x%06" PRIx32 " psn %" PRIu32 " rnr %u reads %u, %u", message->qpn,
               message->starting_psn, message->rnr_retry, message->responder_resources,
               message->initiator_depth);
        break;
    case OCHE_CM_DREQ:
        printf(" qp 0x%06" PRIx32, message->qpn);
        break;
    case OCHE_CM_REJ:
        printf(" %s (%u)", oche_cm_reason_name(message->reason), message->reason);
        break;
    case OCHE_CM_MRA:
        printf(" wait %.3f ms", (double)oche_cm_time(message->service_timeout) / (double)OCHE_MS);
        break;
    case OCHE_CM_SIDR_REQ:
        print_service(message);
        break;
    case OCHE_CM_SIDR_REP:
        printf(" status %u qp 0x%06" PRIx32 " qkey 0x%" PRIx32, message->status, message->qpn,
               message->qkey);
        break;
    default:
        break;
    }
}

void oche_wire_print_cm(const struct oche_packet *packet)
{
    struct oche_cm_message message;
    const enum oche_cm_error error = oche_cm_read(packet->payload, packet->payload_bytes, &message);

    if (error != OCHE_CM_OK) {
        printf(", MAD %s", oche_cm_error_name(error));
        return;
    }
    printf(", CM %s id 0x%08" PRIx32, oche_cm_kind_name(message.kind), message.local_id);
    if (message.remote_id != 0)
        printf(" to 0x%08" PRIx32, message.remote_id);
    print_fields(&message);
}

/* ---- JSON ---- */

static void add_hex(struct json_object *json, const char *key, uint64_t value)
{
    char text[32];

    snprintf(text, sizeof(text), "0x%" PRIx64, value);
    oche_json_add_text(json, key, text);
}

static void add_service(struct json_object *json, const struct oche_cm_message *message)
{
    struct oche_cma_header header;
    char text[INET6_ADDRSTRLEN];

    add_hex(json, "service_id", message->service_id);
    if (!cma_of(message, &header))
        return;
    oche_json_add_int(json, "port", message->service_id & 0xffff);
    oche_json_add_text(json, "source", address_text(&header, header.source, text));
    oche_json_add_int(json, "source_port", header.port);
    oche_json_add_text(json, "destination", address_text(&header, header.destination, text));
}

static void add_fields(struct json_object *json, const struct oche_cm_message *message)
{
    const uint8_t kind = message->kind;

    if (kind == OCHE_CM_REQ || kind == OCHE_CM_REP || kind == OCHE_CM_DREQ ||
        kind == OCHE_CM_SIDR_REP)
        oche_json_add_int(json, "qp", message->qpn);
    if (kind == OCHE_CM_REQ || kind == OCHE_CM_REP) {
        oche_json_add_int(json, "starting_psn", message->starting_psn);
        oche_json_add_int(json, "responder_resources", message->responder_resources);
        oche_json_add_int(json, "initiator_depth", message->initiator_depth);
        oche_json_add_int(json, "rnr_retry", message->rnr_retry);
    }
    if (kind == OCHE_CM_REQ) {
        oche_json_add_int(json, "mtu", UINT64_C(128) << message->mtu);
        oche_json_add_int(json, "retry_count", message->retry_count);
    }
    if (kind == OCHE_CM_REQ || kind == OCHE_CM_SIDR_REQ)
        add_service(json, message);
    if (kind == OCHE_CM_REJ) {
        oche_json_add_int(json, "reason", message->reason);
        oche_json_add_text(json, "reason_name", oche_cm_reason_name(message->reason));
    }
    if (kind == OCHE_CM_SIDR_REP) {
        oche_json_add_int(json, "status", message->status);
        add_hex(json, "qkey", message->qkey);
    }
}

void oche_wire_json_cm(struct json_object *json, const struct oche_packet *packet)
{
    struct json_object *cm = oche_json_object();
    struct oche_cm_message message;
    const enum oche_cm_error error = oche_cm_read(packet->payload, packet->payload_bytes, &message);

    oche_json_add_text(cm, "message",
                       error == OCHE_CM_OK ? oche_cm_kind_name(message.kind)
                                           : oche_cm_error_name(error));
    if (error == OCHE_CM_OK) {
        add_hex(cm, "local_id", message.local_id);
        if (message.remote_id != 0)
            add_hex(cm, "remote_id", message.remote_id);
        add_fields(cm, &message);
    }
    oche_json_add(json, "cm", cm);
}
