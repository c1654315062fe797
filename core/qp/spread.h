/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A reliable queue pair that spreads its packets over paths (core/paths/paths.h). Each packet of a
 * SEND or WRITE gets the UDP source port of its path. Requests of READs and atomics, and READ data,
 * keep the queue pair's own port: receivers keep nothing of them that comes early.
 *
 * Where the scheme wants to hear of its paths, both ends have it configured. The receiver answers a
 * data packet from the port by which that came, with OCHE_BTH_PATH in the ACK or NAK, and with
 * OCHE_BTH_PATH_MARKED if it had CE. Several data packets before one ACK are one answer: for the
 * last of them, but a marked one stays. The sender remembers the path of each packet outstanding;
 * a packet that leaves again is news of the path that it took before.
 *
 * Until the peer has shown that it keeps what comes early, all packets take one path, unless the
 * configuration says that any recovery will do.
 */
#ifndef OCHE_CORE_QP_SPREAD_H
#define OCHE_CORE_QP_SPREAD_H

#include "core/qp/qp_internal.h"

struct spread {
    void *state;     /* of the scheme */
    uint16_t *taken; /* path by PSN, modulo its size; NULL: nobody hears */
    uint32_t taken_mask;
    uint16_t answered; /* port of the data packet that the next ACK answers; 0: none */
    bool marked;       /* this packet had CE */
};

#define SPREAD_ALIGN 16 /* alignment of the memory */

/* Returns the bytes of all this for a queue pair; 0: the NIC does not spread. */
size_t spread_bytes(const struct oche_nic_config *nic, const struct oche_qp_config *config);
/* Takes `memory` of so many bytes, which lies behind recovery's state. */
void spread_init(struct oche_qp *qp, void *memory);
/* The queue pair, which spreads, is connected. */
void spread_connect(struct oche_qp *qp);

/*
 * The next two are for queue pairs that spread. spread_send: gives the packet the port of its path;
 * it leaves for the first time if its PSN is tx.high. spread_answer: the packet is an ACK or a NAK
 * that leaves.
 */
void spread_send(struct oche_qp *qp, struct oche_packet *packet, oche_time now);
void spread_answer(struct oche_qp *qp, struct oche_packet *packet);
/* A switch has trimmed packet `psn`, which is outstanding. At a host's port all paths end. */
void spread_trimmed(struct oche_qp *qp, uint32_t psn, enum oche_trimmed where, oche_time now);
/* A data packet has arrived whose PSN is not a stranger's; an ACK or NAK that is not stale. */
void spread_arrived(struct oche_qp *qp, const struct oche_packet *packet);
void spread_heard(struct oche_qp *qp, const struct oche_packet *packet, oche_time now);

#endif
