/* SPDX-License-Identifier: Apache-2.0 */
/* Reads and writes the connection manager's MADs; offsets are those of IBTA sec 12.6 and 13.4.3. */
#include "core/cm/mad.h"

#include <string.h>

#include "core/wire/bytes.h"

#define HEADER_BYTES  24
#define BASE_VERSION  1
#define CM_CLASS      0x07
#define CLASS_VERSION 2
#define METHOD_SEND   0x03

/* offsets in the MAD's header */
#define AT_TID       8
#define AT_ATTRIBUTE 16
#define AT_MODIFIER  20

/* ---- what kinds there are ---- */

static const struct {
    const char *name;
    uint8_t private_at, private_bytes; /* after the header */
} kinds[] = {
    [OCHE_CM_REQ - OCHE_CM_REQ] = {"REQ", 140, OCHE_CM_REQ_PRIVATE},
    [OCHE_CM_MRA - OCHE_CM_REQ] = {"MRA", 10, OCHE_CM_MRA_PRIVATE},
    [OCHE_CM_REJ - OCHE_CM_REQ] = {"REJ", 84, OCHE_CM_REJ_PRIVATE},
    [OCHE_CM_REP - OCHE_CM_REQ] = {"REP", 36, OCHE_CM_REP_PRIVATE},
    [OCHE_CM_RTU - OCHE_CM_REQ] = {"RTU", 8, OCHE_CM_RTU_PRIVATE},
    [OCHE_CM_DREQ - OCHE_CM_REQ] = {"DREQ", 12, OCHE_CM_DREQ_PRIVATE},
    [OCHE_CM_DREP - OCHE_CM_REQ] = {"DREP", 8, OCHE_CM_DREP_PRIVATE},
    [OCHE_CM_SIDR_REQ - OCHE_CM_REQ] = {"SIDR REQ", 16, OCHE_CM_SIDR_REQ_PRIVATE},
    [OCHE_CM_SIDR_REP - OCHE_CM_REQ] = {"SIDR REP", 96, OCHE_CM_SIDR_REP_PRIVATE},
};

static bool is_kind(uint32_t kind)
{
    return kind >= OCHE_CM_REQ && kind < OCHE_CM_KINDS_END;
}

uint8_t oche_cm_private_bytes(uint8_t kind)
{
    return is_kind(kind) ? kinds[kind - OCHE_CM_REQ].private_bytes : 0;
}

const char *oche_cm_kind_name(uint8_t kind)
{
    return is_kind(kind) ? kinds[kind - OCHE_CM_REQ].name : "?";
}

const char *oche_cm_reason_name(uint16_t reason)
{
    static const char *const names[] = {
        [OCHE_CM_REASON_NO_QP] = "no queue pair",
        [OCHE_CM_REASON_NO_RESOURCES] = "no resources",
        [OCHE_CM_REASON_TIMEOUT] = "timeout",
        [OCHE_CM_REASON_UNSUPPORTED] = "unsupported request",
        [OCHE_CM_REASON_INVALID_ID] = "invalid communication ID",
        [OCHE_CM_REASON_INVALID_INSTANCE] = "invalid communication instance",
        [OCHE_CM_REASON_INVALID_SERVICE] = "invalid service ID",
        [OCHE_CM_REASON_INVALID_TRANSPORT] = "invalid transport service type",
        [OCHE_CM_REASON_STALE] = "stale connection",
        [OCHE_CM_REASON_NO_RDC] = "no RD channel",
        [OCHE_CM_REASON_INVALID_GID] = "invalid GID",
        [OCHE_CM_REASON_INVALID_MTU] = "invalid path MTU",
        [OCHE_CM_REASON_CONSUMER] = "refused by the program",
        [OCHE_CM_REASON_RNR_RETRY] = "invalid RNR retry count",
        [OCHE_CM_REASON_CLASS_VERSION] = "unsupported class version",
    };

    return reason < OCHE_COUNT_OF(names) && names[reason] != NULL ? names[reason]
                                                                  : "another reason";
}

const char *oche_cm_error_name(enum oche_cm_error error)
{
    static const char *const names[OCHE_CM_ERROR_COUNT] = {
        [OCHE_CM_OK] = "ok",
        [OCHE_CM_TRUNCATED] = "not 256 bytes",
        [OCHE_CM_NOT_CM] = "not of the connection manager",
        [OCHE_CM_CLASS_VERSION] = "another version of the connection manager",
        [OCHE_CM_UNKNOWN] = "unknown message",
    };

    return (unsigned)error < OCHE_CM_ERROR_COUNT ? names[error] : "?";
}

/* ---- REQ ---- */

static void read_path(const uint8_t *at, struct oche_cm_path *path)
{
    path->local_lid = oche_get16(at + 52);
    path->remote_lid = oche_get16(at + 54);
    memcpy(path->local_gid, at + 56, OCHE_CM_GID_BYTES);
    memcpy(path->remote_gid, at + 72, OCHE_CM_GID_BYTES);
    path->flow_label = oche_get24(at + 88) >> 4;
    path->packet_rate = at[91] & 0x3f;
    path->traffic_class = at[92];
    path->hop_limit = at[93];
    path->sl = at[94] >> 4;
    path->subnet_local = (at[94] & 0x08) != 0;
    path->ack_timeout = at[95] >> 3;
}

static void write_path(const struct oche_cm_path *path, uint8_t *at)
{
    oche_put16(at + 52, path->local_lid);
    oche_put16(at + 54, path->remote_lid);
    memcpy(at + 56, path->local_gid, OCHE_CM_GID_BYTES);
    memcpy(at + 72, path->remote_gid, OCHE_CM_GID_BYTES);
    oche_put24(at + 88, path->flow_label << 4 & 0xfffff0);
    at[91] = path->packet_rate & 0x3f;
    at[92] = path->traffic_class;
    at[93] = path->hop_limit;
    at[94] = (uint8_t)(path->sl << 4 | (path->subnet_local ? 0x08 : 0));
    at[95] = (uint8_t)(path->ack_timeout << 3);
}

static void read_req(const uint8_t *at, struct oche_cm_message *message)
{
    static const uint8_t no_gid[OCHE_CM_GID_BYTES];

    message->local_id = oche_get32(at);
    message->service_id = oche_get64(at + 8);
    message->ca_guid = oche_get64(at + 16);
    message->qkey = oche_get32(at + 28);
    message->qpn = oche_get24(at + 32);
    message->responder_resources = at[35];
    message->initiator_depth = at[39];
    message->remote_response_timeout = at[43] >> 3;
    message->transport = at[43] >> 1 & 3;
    message->flow_control = (at[43] & 1) != 0;
    message->starting_psn = oche_get24(at + 44);
    message->local_response_timeout = at[47] >> 3;
    message->retry_count = at[47] & 7;
    message->pkey = oche_get16(at + 48);
    message->mtu = at[50] >> 4;
    message->rdc_exists = (at[50] & 0x08) != 0;
    message->rnr_retry = at[50] & 7;
    message->max_cm_retries = at[51] >> 4;
    message->srq = (at[51] & 0x08) != 0;
    message->extended_transport = at[51] & 7;
    read_path(at, &message->path);
    message->has_alternate =
        oche_get16(at + 96) != 0 || memcmp(at + 100, no_gid, OCHE_CM_GID_BYTES) != 0;
}

static void write_req(const struct oche_cm_message *message, uint8_t *at)
{
    oche_put32(at, message->local_id);
    oche_put64(at + 8, message->service_id);
    oche_put64(at + 16, message->ca_guid);
    oche_put32(at + 28, message->qkey);
    oche_put24(at + 32, message->qpn);
    at[35] = message->responder_resources;
    at[39] = message->initiator_depth;
    at[43] = (uint8_t)(message->remote_response_timeout << 3 | (message->transport & 3) << 1 |
                       message->flow_control);
    oche_put24(at + 44, message->starting_psn);
    at[47] = (uint8_t)(message->local_response_timeout << 3 | (message->retry_count & 7));
    oche_put16(at + 48, message->pkey);
    at[50] =
        (uint8_t)(message->mtu << 4 | (message->rdc_exists ? 0x08 : 0) | (message->rnr_retry & 7));
    at[51] = (uint8_t)(message->max_cm_retries << 4 | (message->srq ? 0x08 : 0) |
                       (message->extended_transport & 7));
    write_path(&message->path, at);
}

/* ---- REP ---- */

static void read_rep(const uint8_t *at, struct oche_cm_message *message)
{
    message->qkey = oche_get32(at + 8);
    message->qpn = oche_get24(at + 12);
    message->starting_psn = oche_get24(at + 20);
    message->responder_resources = at[24];
    message->initiator_depth = at[25];
    message->ack_delay = at[26] >> 3;
    message->failover = at[26] >> 1 & 3;
    message->flow_control = (at[26] & 1) != 0;
    message->rnr_retry = at[27] >> 5;
    message->srq = (at[27] & 0x10) != 0;
    message->ca_guid = oche_get64(at + 28);
}

static void write_rep(const struct oche_cm_message *message, uint8_t *at)
{
    oche_put32(at + 8, message->qkey);
    oche_put24(at + 12, message->qpn);
    oche_put24(at + 20, message->starting_psn);
    at[24] = message->responder_resources;
    at[25] = message->initiator_depth;
    at[26] =
        (uint8_t)(message->ack_delay << 3 | (message->failover & 3) << 1 | message->flow_control);
    at[27] = (uint8_t)((message->rnr_retry & 7) << 5 | (message->srq ? 0x10 : 0));
    oche_put64(at + 28, message->ca_guid);
}

/* ---- REJ and SIDR ---- */

static void read_rej(const uint8_t *at, struct oche_cm_message *message)
{
    message->about = at[8] >> 6;
    message->info_bytes = at[9] >> 1;
    if (message->info_bytes > OCHE_CM_REJ_INFO)
        message->info_bytes = OCHE_CM_REJ_INFO;
    message->reason = oche_get16(at + 10);
    memcpy(message->info, at + 12, message->info_bytes);
}

static void write_rej(const struct oche_cm_message *message, uint8_t *at)
{
    at[8] = (uint8_t)(message->about << 6);
    at[9] = (uint8_t)(message->info_bytes << 1);
    oche_put16(at + 10, message->reason);
    memcpy(at + 12, message->info, message->info_bytes);
}

static void read_sidr_rep(const uint8_t *at, struct oche_cm_message *message)
{
    message->status = at[4];
    message->qpn = oche_get24(at + 8);
    message->service_id = oche_get64(at + 12);
    message->qkey = oche_get32(at + 20);
}

static void write_sidr_rep(const struct oche_cm_message *message, uint8_t *at)
{
    at[4] = message->status;
    oche_put24(at + 8, message->qpn);
    oche_put64(at + 12, message->service_id);
    oche_put32(at + 20, message->qkey);
}

/* ---- all of them ---- */

static void read_body(const uint8_t *at, struct oche_cm_message *message)
{
    message->local_id = oche_get32(at);
    switch (message->kind) {
    case OCHE_CM_REQ:
        read_req(at, message);
        return;
    case OCHE_CM_SIDR_REQ:
        message->pkey = oche_get16(at + 4);
        message->service_id = oche_get64(at + 8);
        return;
    case OCHE_CM_SIDR_REP:
        read_sidr_rep(at, message);
        return;
    default:
        break;
    }
    message->remote_id = oche_get32(at + 4);
    if (message->kind == OCHE_CM_REP)
        read_rep(at, message);
    if (message->kind == OCHE_CM_REJ)
        read_rej(at, message);
    if (message->kind == OCHE_CM_DREQ)
        message->qpn = oche_get24(at + 8);
    if (message->kind == OCHE_CM_MRA) {
        message->about = at[8] >> 6;
        message->service_timeout = at[9] >> 3;
    }
}

enum oche_cm_error oche_cm_read(const uint8_t *mad, size_t bytes, struct oche_cm_message *message)
{
    memset(message, 0, sizeof(*message));
    if (bytes != OCHE_MAD_BYTES)
        return OCHE_CM_TRUNCATED;
    if (mad[0] != BASE_VERSION || mad[1] != CM_CLASS)
        return OCHE_CM_NOT_CM;
    if (mad[2] != CLASS_VERSION)
        return OCHE_CM_CLASS_VERSION;
    const uint16_t kind = oche_get16(mad + AT_ATTRIBUTE);

    if (mad[3] != METHOD_SEND || !is_kind(kind))
        return OCHE_CM_UNKNOWN;
    message->kind = (uint8_t)kind;
    message->tid = oche_get64(mad + AT_TID);
    message->modifier = oche_get32(mad + AT_MODIFIER);
    read_body(mad + HEADER_BYTES, message);
    message->private_bytes = oche_cm_private_bytes(message->kind);
    memcpy(message->private_data, mad + HEADER_BYTES + kinds[kind - OCHE_CM_REQ].private_at,
           message->private_bytes);
    return OCHE_CM_OK;
}

static void write_body(const struct oche_cm_message *message, uint8_t *at)
{
    oche_put32(at, message->local_id);
    switch (message->kind) {
    case OCHE_CM_REQ:
        write_req(message, at);
        return;
    case OCHE_CM_SIDR_REQ:
        oche_put16(at + 4, message->pkey);
        oche_put64(at + 8, message->service_id);
        return;
    case OCHE_CM_SIDR_REP:
        write_sidr_rep(message, at);
        return;
    default:
        break;
    }
    oche_put32(at + 4, message->remote_id);
    if (message->kind == OCHE_CM_REP)
        write_rep(message, at);
    if (message->kind == OCHE_CM_REJ)
        write_rej(message, at);
    if (message->kind == OCHE_CM_DREQ)
        oche_put24(at + 8, message->qpn);
    if (message->kind == OCHE_CM_MRA) {
        at[8] = (uint8_t)(message->about << 6);
        at[9] = (uint8_t)(message->service_timeout << 3);
    }
}

void oche_cm_write(const struct oche_cm_message *message, uint8_t mad[OCHE_MAD_BYTES])
{
    OCHE_MUST(is_kind(message->kind) && message->info_bytes <= OCHE_CM_REJ_INFO &&
              message->private_bytes <= oche_cm_private_bytes(message->kind));
    memset(mad, 0, OCHE_MAD_BYTES);
    mad[0] = BASE_VERSION;
    mad[1] = CM_CLASS;
    mad[2] = CLASS_VERSION;
    mad[3] = METHOD_SEND;
    oche_put64(mad + AT_TID, message->tid);
    oche_put16(mad + AT_ATTRIBUTE, message->kind);
    oche_put32(mad + AT_MODIFIER, message->modifier);
    write_body(message, mad + HEADER_BYTES);
    memcpy(mad + HEADER_BYTES + kinds[message->kind - OCHE_CM_REQ].private_at,
           message->private_data, message->private_bytes);
}

bool oche_cm_write_refusal(const struct oche_cm_message *request, uint8_t mad[OCHE_MAD_BYTES])
{
    struct oche_cm_message refusal = {.kind = OCHE_CM_REJ, .tid = request->tid};

    switch (request->kind) {
    case OCHE_CM_REQ:
        refusal.remote_id = request->local_id;
        refusal.about = OCHE_CM_ABOUT_REQ;
        refusal.reason = OCHE_CM_REASON_INVALID_SERVICE;
        break;
    case OCHE_CM_SIDR_REQ:
        refusal.kind = OCHE_CM_SIDR_REP;
        refusal.local_id = request->local_id;
        refusal.service_id = request->service_id;
        refusal.status = OCHE_CM_SIDR_UNSUPPORTED;
        break;
    default:
        return false;
    }
    oche_cm_write(&refusal, mad);
    return true;
}

/* ---- rdma_cm's part ---- */

bool oche_cma_read(const uint8_t *data, size_t bytes, struct oche_cma_header *header)
{
    memset(header, 0, sizeof(*header));
    if (bytes < OCHE_CMA_HEADER_BYTES || data[0] != 0)
        return false;
    if (data[1] >> 4 != 4 && data[1] >> 4 != 6)
        return false;
    header->ipv6 = data[1] >> 4 == 6;
    header->port = oche_get16(data + 2);
    memcpy(header->source, data + 4, sizeof(header->source));
    memcpy(header->destination, data + 20, sizeof(header->destination));
    return true;
}

void oche_cma_write(const struct oche_cma_header *header, uint8_t data[OCHE_CMA_HEADER_BYTES])
{
    data[0] = 0;
    data[1] = header->ipv6 ? 6 << 4 : 4 << 4;
    oche_put16(data + 2, header->port);
    memcpy(data + 4, header->source, sizeof(header->source));
    memcpy(data + 20, header->destination, sizeof(header->destination));
}
