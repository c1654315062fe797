/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The loss-recovery contract. A scheme is one file in core/recovery and one line in its registry,
 * with both halves: what the sender sends next after an ACK, a NAK or a timeout, and whether the
 * receiver delivers, drops or answers with a NAK. The queue pair owns the PSN arithmetic of work
 * requests; the scheme owns the order in which PSNs go out and what the receiver accepts.
 */
#ifndef OCHE_CORE_RECOVERY_RECOVERY_H
#define OCHE_CORE_RECOVERY_RECOVERY_H

#include "core/base.h"
#include "core/param.h"
#include "core/wire/extension.h"
#include "core/wire/packet.h"

/* The sender half of one queue pair. All PSNs are 24 bits. */
struct oche_recovery_tx {
    uint32_t una;           /* oldest PSN not acknowledged; see also whole_messages */
    uint32_t next;          /* PSN to send next; below `high` it is a retransmission */
    uint32_t high;          /* one past the highest PSN ever sent */
    uint32_t message_start; /* first PSN of the message that holds `una` */
    const void *params;
    void *state; /* scheme->tx_state_bytes, zeroed at start */
};

/* The receiver half of one queue pair. */
struct oche_recovery_rx {
    uint32_t epsn;          /* expected PSN */
    uint32_t message_start; /* PSN at which the message that is arriving began; between two: epsn */
    oche_time timer; /* when rx_timer is to be called, OCHE_NEVER: not; any hook may set it */
    const void *params;
    void *state; /* scheme->rx_state_bytes, zeroed at start */
};

enum oche_verdict {
    OCHE_VERDICT_DELIVER,   /* it is the expected one */
    OCHE_VERDICT_DUPLICATE, /* seen before: answer as the opcode's duplicate rule says */
    OCHE_VERDICT_DROP,      /* a gap: not taken */
    OCHE_VERDICT_PLACE,     /* a gap, but it may be kept: `placed` follows if that was possible */
    OCHE_VERDICT_PLACED,    /* kept already */
};

/* What the receiver half wants sent; zeroed before the call. */
struct oche_recovery_reply {
    bool send_nak; /* PSN sequence error, for PSN nak_psn */
    bool send_ack; /* up to the expected PSN */
    bool restart;  /* forget what has arrived of the message: epsn goes back to message_start */
    uint32_t nak_psn;
};

struct oche_recovery_scheme {
    const char *name;
    const char *paper;
    struct oche_param_table table;
    size_t tx_state_bytes, rx_state_bytes;
    /*
     * A receiver of this scheme may restart a message, so what is acknowledged of a message is not
     * safe before all of it is. Then: a NAK, a timeout or a gap in the responses of a READ takes
     * tx.una back to tx.message_start before the hook is called; an ACK within a message shows that
     * the peer lives, but gives no retry back and never goes past tx.next; taking una back spends a
     * retry; bytes count as delivered when their message is complete.
     */
    bool whole_messages;

    /* Sender half. Each may move tx->next, never outside [tx->una, tx->high]. */
    /* Required, these three. */
    /* Everything below `psn` is acknowledged; tx->una has been moved there. */
    void (*acked)(struct oche_recovery_tx *tx, oche_time now);
    /* NAK(psn): everything below it is acknowledged (una has been moved), psn is missing. */
    void (*nak)(struct oche_recovery_tx *tx, uint32_t psn, oche_time now);
    /* The ACK timer ran out, or an RNR wait ended. */
    void (*timeout)(struct oche_recovery_tx *tx, oche_time now);
    /*
     * Optional: a request packet for `psn` has left, tx->next stands behind it. `last`: it ends a
     * SEND or WRITE message.
     */
    void (*sent)(struct oche_recovery_tx *tx, uint32_t psn, bool last, oche_time now);
    /*
     * Optional: how long to wait for an ACK, asked whenever the timer is armed, in place of the
     * connection's ACK timeout; where that is OCHE_NEVER there is no timer, and this is not asked.
     */
    oche_time (*rto)(const struct oche_recovery_tx *tx);
    /* Optional: PSNs outstanding at most (1 or more), if the connection does not say less. */
    uint32_t (*window_packets)(const void *params);

    /* Receiver half. Required: judges a request packet of a valid queue pair. */
    enum oche_verdict (*arrived)(struct oche_recovery_rx *rx, const struct oche_packet *packet,
                                 oche_time now, struct oche_recovery_reply *reply);
    /* Optional: rx->epsn has moved on, as `packet` was accepted (after arrived said DELIVER). */
    void (*accepted)(struct oche_recovery_rx *rx, const struct oche_packet *packet, oche_time now);
    /*
     * Extensions: for schemes whose receiver keeps packets that come after a gap, and tells the
     * sender which; all of them or none, and with them window_packets, which also says how many are
     * kept at most. They begin when the peer has shown that it knows them
     * (OCHE_BTH_EXTENSIONS); until then, and with a peer that never does, the scheme must do with
     * plain RoCEv2: no verdict PLACE, no sack. What is kept is written to memory at once, and
     * executed when the gap is closed (core/qp/placement.h).
     */
    /* The peer has shown it; may come at any time, once a connection. */
    void (*extend)(struct oche_recovery_tx *tx, struct oche_recovery_rx *rx);
    /*
     * Sender: NAK(psn) says what has arrived behind psn. Everything in `sack` is outstanding; una
     * is at psn, unless responses before it are missing. Returns whether that is a new loss.
     */
    bool (*sacked)(struct oche_recovery_tx *tx, uint32_t psn, const struct oche_sack *sack,
                   oche_time now);
    /* Receiver: psn was kept; whether it is, and was not executed yet. */
    void (*placed)(struct oche_recovery_rx *rx, uint32_t psn);
    bool (*holds)(const struct oche_recovery_rx *rx, uint32_t psn);
    /* Receiver: a NAK leaves; fills in what has arrived. Whether another one must say the rest. */
    bool (*sack)(struct oche_recovery_rx *rx, struct oche_sack *sack);

    /* Optional: rx->timer is due; it has been set to OCHE_NEVER. */
    void (*rx_timer)(struct oche_recovery_rx *rx, oche_time now, struct oche_recovery_reply *reply);
};

extern const struct oche_recovery_scheme *const oche_recovery_schemes[];
extern const size_t oche_recovery_scheme_count;
const struct oche_recovery_scheme *oche_recovery_find(const char *name);

#endif
