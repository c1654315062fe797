/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Refuses requests for a connection if no process of the address has a queue pair 1: without an
 * answer the client would wait until it gives up. Needs neither a queue pair nor memory. Each
 * request gets one answer, as long as itself, and an answer gets none; so a forged sender gains
 * nothing. The request is counted as one for a queue pair that does not exist, the answer as sent.
 */
#include "core/cm/mad.h"
#include "core/wire/codec.h"
#include "device/internal.h"

#define REFUSAL_BYTES (OCHE_MAX_HEADER_BYTES + OCHE_MAD_BYTES + OCHE_ICRC_BYTES)
#define DEFAULT_PKEY  UINT16_C(0xffff)
#define PKEY_MASK     UINT16_C(0x7fff)

static bool is_for_manager(struct oche_device *device, const struct oche_packet *packet)
    OCHE_NEEDS(device_lock)
{
    return packet->opcode == OCHE_UD_SEND_ONLY && packet->deth.qkey == OCHE_CM_QKEY &&
           (packet->pkey & PKEY_MASK) == (DEFAULT_PKEY & PKEY_MASK) &&
           oche_nic_find_qp(device->nic, OCHE_CM_QPN) == NULL;
}

/* Sends a MAD to queue pair 1 of an address that need not be a peer. */
static void send_mad(struct oche_device *device, const struct oche_address *to, uint8_t *mad,
                     oche_time now) OCHE_NEEDS(device_lock)
{
    const struct oche_packet packet = {.dest_qpn = OCHE_CM_QPN,
                                       .pkey = DEFAULT_PKEY,
                                       .opcode = OCHE_UD_SEND_ONLY,
                                       .payload_bytes = OCHE_MAD_BYTES,
                                       .ext = OCHE_EXT_DETH | OCHE_EXT_PAYLOAD,
                                       .payload = mad,
                                       .deth = {.qkey = OCHE_CM_QKEY, .src_qpn = OCHE_CM_QPN}};
    struct sockaddr_storage address;
    uint8_t bytes[REFUSAL_BYTES];
    struct iovec piece = {.iov_base = bytes};
    struct oche_datagram_out out = {.to = &address, .pieces = &piece, .piece_count = 1};
    struct oche_ip_header header;
    struct oche_pseudo pseudo;
    unsigned sent = 0;

    oche_ip_header_make(&header, &device->address, to, device->source_ports.ports[0], device->port,
                        0);
    oche_pseudo_from_bytes(&pseudo, header.bytes);
    piece.iov_len = oche_encode_transport(&packet, &pseudo, device->crc32, bytes, sizeof(bytes));
    out.to_bytes = oche_address_to_socket(to, device->port, &address);
    if (device->links == NULL ||
        !device_link_send(device, to, 0, bytes, (uint32_t)piece.iov_len, 0, now)) {
        oche_socket_send(&device->socket, device->source_ports.fds[0], &out, 1, &sent);
        if (sent == 0) {
            device->stats.send_errors++;
            return;
        }
        device->stats.sent_packets++;
        device->stats.sent_bytes += piece.iov_len;
        device->stats.sent_datagrams++;
    }
    if (device->capture == NULL)
        return;
    oche_ip_header_set_bytes(&header, (uint32_t)piece.iov_len);
    oche_capture_write(device->capture, &header, bytes, (uint32_t)piece.iov_len, now);
}

void device_refuse(struct oche_device *device, const struct oche_address *from,
                   const struct oche_packet *packet, oche_time now)
{
    struct oche_cm_message request;
    uint8_t mad[OCHE_MAD_BYTES];

    if (is_for_manager(device, packet) && oche_address_is_unicast(from) &&
        oche_cm_read(packet->payload, packet->payload_bytes, &request) == OCHE_CM_OK &&
        oche_cm_write_refusal(&request, mad))
        send_mad(device, from, mad, now);
}
