/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The loss-recovery contract. A scheme is one file in core/recovery and one line in its registry.
 * It has two halves: the sender half decides what is sent next after an ACK, a NAK or a timeout;
 * the receiver half decides whether a packet is delivered, dropped or answered with a NAK. The
 * queue pair assigns PSNs to work requests; the scheme decides in which order PSNs leave and which
 * packets the receiver accepts.
 */
#ifndef OCHE_CORE_RECOVERY_RECOVERY_H
#define OCHE_CORE_RECOVERY_RECOVERY_H

#include "core/base.h"
#include "core/param.h"
#include "core/wire/extension.h"
#include "core/wire/packet.h"

OCHE_C_BEGIN

/* The sender half of one queue pair. All PSNs are 24 bits. */
struct oche_recovery_tx {
    uint32_t una;           /* oldest PSN that is not acknowledged; see also whole_messages */
    uint32_t next;          /* PSN to send next; below `high` it is a retransmission */
    uint32_t high;          /* one past the highest PSN ever sent */
    uint32_t message_start; /* first PSN of the message that holds `una` */
    const void *params;
    void *state; /* scheme->tx_state_bytes, zeroed at start */
};

/* The receiver half of one queue pair. */
struct oche_recovery_rx {
    uint32_t epsn;          /* expected PSN */
    uint32_t message_start; /* first PSN of the arriving message; between messages, epsn */
    oche_time timer;        /* when to call rx_timer, or OCHE_NEVER; any hook may set it */
    const void *params;
    void *state; /* scheme->rx_state_bytes, zeroed at start */
};

/* The verdict on an earlier timeout or loss, once an ACK has come. */
enum oche_timeout_was {
    OCHE_TIMEOUT_DOUBTFUL, /* a later ACK may still tell */
    OCHE_TIMEOUT_RIGHT,    /* packets were lost, or no ACK can tell any more */
    OCHE_TIMEOUT_EARLY,    /* the packets were late, and not lost */
};

enum oche_verdict {
    OCHE_VERDICT_DELIVER,   /* the expected packet */
    OCHE_VERDICT_DUPLICATE, /* received before: answer as the opcode's rule for duplicates says */
    OCHE_VERDICT_DROP,      /* behind a gap: drop the packet */
    /* behind a gap: keep the packet if possible; if it is kept, `placed` is called */
    OCHE_VERDICT_PLACE,
    OCHE_VERDICT_PLACED, /* behind a gap, and kept already */
};

/* The receiver half's requests to the queue pair; zeroed before the call. */
struct oche_recovery_reply {
    bool send_nak; /* send a NAK (PSN sequence error) for PSN nak_psn */
    bool send_ack; /* acknowledge everything before the expected PSN */
    bool report;   /* tell the sender that the packet had arrived before; with extensions */
    bool restart;  /* forget what has arrived of the message: epsn = message_start */
    uint32_t nak_psn;
};

/* The network that a scheme's parameters are to suit; all 0: it is not known. */
struct oche_recovery_network {
    oche_time round_trip; /* the longest of a packet and its ACK where nothing waits */
    uint64_t packets;     /* number of packets that leave a host's link in this time, rounded up */
    bool reorders;        /* packets of a queue pair may overtake each other */
};

struct oche_recovery_scheme {
    const char *name;
    const char *paper;
    struct oche_param_table table;
    /*
     * Optional: further parameters in the same struct, which matter only where a program looks at
     * its memory: on the wire. Scenarios refuse them. The default of each is 0, so that whoever
     * knows `table` alone has it.
     */
    struct oche_param_table wire_table;
    size_t tx_state_bytes, rx_state_bytes;
    /*
     * True if a receiver of this scheme may restart a message, so that the sender may have to send
     * an acknowledged part of a message again until the whole message is acknowledged. Both ends
     * must do that, so it counts only once the peer has shown that it does (OCHE_BTH_RESTARTS);
     * with any other peer the scheme is Go-Back-N. If it counts: a NAK, a timeout or a gap in the
     * responses of a READ takes tx.una back to tx.message_start before the hook is called, which
     * spends a retry; an ACK within a message shows that the peer is alive, but restores no retries
     * and never moves una past tx.next; bytes count as delivered when their message is complete.
     */
    bool whole_messages;
    /*
     * True if packets may overtake each other on their way: the receiver keeps what comes early.
     * Otherwise every overtaken packet is sent again.
     */
    bool any_order;

    /* Sender half. Each hook may move tx->next, but not out of [tx->una, tx->high]. */
    /* The next three hooks are required. */
    /* tx->una has moved on: all packets before it are acknowledged. */
    void (*acked)(struct oche_recovery_tx *tx, oche_time now);
    /*
     * A NAK has arrived: `psn` is missing, and every PSN before it is acknowledged; una has moved
     * already.
     */
    void (*nak)(struct oche_recovery_tx *tx, uint32_t psn, oche_time now);
    /* The ACK timer ran out, or an RNR wait ended and there is no rnr_over. */
    void (*timeout)(struct oche_recovery_tx *tx, oche_time now);
    /*
     * Optional: tx->una has moved on after a timeout, beyond the first packet that had asked for an
     * ACK before it, or after a NAK or a new loss; called before `acked` for the same ACK until the
     * answer is not DOUBTFUL. Of a timeout or loss that was EARLY the scheme forgets what it has
     * planned for it, and congestion control is told (cc.h, undo).
     */
    enum oche_timeout_was (*judge)(struct oche_recovery_tx *tx, oche_time now);
    /*
     * Optional, with judge: READ data up to `end` has been answered, and some is kept behind what
     * is missing at una. That una soon moves past it does not show that a timeout was early.
     */
    void (*answered)(struct oche_recovery_tx *tx, uint32_t end);
    /*
     * Optional, all or none, for schemes that wait before a missing packet counts as lost
     * (core/recovery/reorder.h):
     * reorder_window: returns how long a packet may be late while `arrived` packets have arrived
     * behind the gap; 0: it counts as lost at once.
     * loss_due: returns when `loss_timer` is to be called, or OCHE_NEVER. The queue pair asks after
     * `sacked`, `duplicated` and `loss_timer`.
     * loss_timer: missing packets now count as lost. Returns true if that is a new loss.
     * duplicated: `count` request packets have arrived at the peer that had arrived before. EARLY:
     * all packets that were sent again since the last new loss had arrived, so nothing was lost.
     * read_late: READ data that was missing has come. `asked_again`: all of what was asked for
     * again since congestion control was told had come already.
     */
    oche_time (*reorder_window)(const struct oche_recovery_tx *tx, uint32_t arrived);
    oche_time (*loss_due)(const struct oche_recovery_tx *tx);
    bool (*loss_timer)(struct oche_recovery_tx *tx, oche_time now);
    enum oche_timeout_was (*duplicated)(struct oche_recovery_tx *tx, uint32_t count, oche_time now);
    void (*read_late)(struct oche_recovery_tx *tx, bool asked_again);
    /*
     * Optional: returns how many packets between una and high have arrived, so that they are not in
     * flight any more. Without it none count as arrived.
     */
    uint32_t (*arrived_packets)(const struct oche_recovery_tx *tx);
    /*
     * Optional, with sacked: returns true and the highest PSN that the last SACK told of and that
     * was not known to have arrived; false: it told of none.
     */
    bool (*newly_arrived)(const struct oche_recovery_tx *tx, uint32_t *psn);
    /* Optional: an RNR wait has ended, which is no sign of a loss. */
    void (*rnr_over)(struct oche_recovery_tx *tx, oche_time now);
    /*
     * Optional: a request packet for `psn` has left, and tx->next is the PSN after it. `last` is
     * true if the packet ends a SEND or WRITE message and may leave a second time at once, which
     * the last packet of a message that switches deflect may not (core/qp/send/deflection.h).
     */
    void (*sent)(struct oche_recovery_tx *tx, uint32_t psn, bool last, oche_time now);
    /*
     * Optional, for schemes that plan what leaves next: the packets from `psn` up to tx->next need
     * not leave again, as the READ data for them is kept.
     */
    void (*passed)(struct oche_recovery_tx *tx, uint32_t psn);
    /*
     * Optional: returns how long to wait for an ACK, in place of the connection's ACK timeout,
     * which applies again when the retries are used up: so many and one of them must pass before
     * the peer is given up. Called whenever the timer is armed. Not called if the connection's ACK
     * timeout is OCHE_NEVER, because then there is no timer. If the wait becomes longer with each
     * timeout, then only up to `most`, the connection's ACK timeout.
     */
    oche_time (*rto)(const struct oche_recovery_tx *tx, oche_time most);
    /*
     * Optional, with rto: returns how long to wait at most between timeouts in a row, if `rto` is
     * not longer, also when the retries are used up. OCHE_NEVER: no such bound.
     */
    oche_time (*probe)(const void *params);
    /*
     * Optional, both or neither: `measured` is called with the round trip of a packet that was not
     * sent again, before `acked` for the same ACK, if `wants_rtt` says so of the parameters.
     */
    bool (*wants_rtt)(const void *params);
    void (*measured)(struct oche_recovery_tx *tx, oche_time rtt);
    /*
     * Optional: returns how many PSNs may be outstanding, at least 1. A connection may allow fewer.
     */
    uint32_t (*window_packets)(const void *params);

    /*
     * Receiver half. Required: returns the verdict on a request packet that has arrived for a valid
     * queue pair.
     */
    enum oche_verdict (*arrived)(struct oche_recovery_rx *rx, const struct oche_packet *packet,
                                 oche_time now, struct oche_recovery_reply *reply);
    /* Optional: `packet` was accepted after the verdict DELIVER, and rx->epsn has moved on. */
    void (*accepted)(struct oche_recovery_rx *rx, const struct oche_packet *packet, oche_time now);
    /*
     * Required with whole_messages: the peer's scheme has whole_messages too. Called at most once
     * per connection, before a packet is accepted. Until then the scheme must not set
     * reply->restart, as the peer would not send again what it has been told has arrived.
     */
    void (*peer_restarts)(struct oche_recovery_rx *rx);
    /*
     * Extensions: for schemes whose receiver keeps packets that arrive behind a gap and tells the
     * sender which packets these are. A scheme has all of the following hooks or none. With them it
     * must also have window_packets, which limits the number of packets kept. The extensions are
     * used once the peer has shown that it knows them (OCHE_BTH_EXTENSIONS); until then the scheme
     * must use plain RoCEv2: no verdict PLACE, no sack. The packet is executed when the gap is
     * closed; its payload is written to memory then, or at once (core/qp/receive/placement.h).
     */
    /*
     * The peer has shown that it knows the extensions. Called at any time, at most once per
     * connection.
     */
    void (*extend)(struct oche_recovery_tx *tx, struct oche_recovery_rx *rx);
    /*
     * Sender: a NAK for `psn` has arrived with a list of the packets that arrived behind the gap.
     * Every PSN in `sack` is outstanding. una is `psn`, or less if responses before `psn` are
     * missing. Returns true if the NAK reports a new loss.
     */
    bool (*sacked)(struct oche_recovery_tx *tx, uint32_t psn, const struct oche_sack *sack,
                   oche_time now);
    /* Receiver: packet `psn` has been kept. */
    void (*placed)(struct oche_recovery_rx *rx, uint32_t psn);
    /* Receiver: returns true if packet `psn` is kept and has not been executed. */
    bool (*holds)(const struct oche_recovery_rx *rx, uint32_t psn);
    /*
     * Optional. Receiver: returns true if the payloads of kept packets are written to their places
     * at once, although the queue pair has memory to hold them (oche_qp_config.held). Without the
     * hook they are held.
     */
    bool (*places_at_once)(const void *params);
    /*
     * Optional. Receiver: returns true if packets that arrive while others are kept are answered
     * only if they ask for an ACK. Without the hook each of them is answered.
     */
    bool (*only_asked)(const void *params);
    /*
     * Receiver: fills in `sack`, for a NAK that is about to leave. Returns true if one SACK is too
     * small for all packets that have arrived, so that another NAK must follow.
     */
    bool (*sack)(struct oche_recovery_rx *rx, struct oche_sack *sack);

    /*
     * Optional, all or none, with extensions: switches trim (fabric/trimming.c).
     * trimmed: Receiver: the rest of packet `psn` has arrived, which a switch has trimmed. Returns
     * true if the sender is to be told.
     * next_trimmed: Receiver: returns true and the next packet of which the sender is to be told;
     * false: there is none.
     * trim_told: Sender: packet `psn`, which is outstanding, was trimmed. Returns false if it has
     * arrived all the same, or is to leave again already. `*is_new`: no trimmed packet was told of
     * in this round trip.
     * trimmed_packets: Sender: returns how many packets wait to leave again because of that.
     */
    bool (*trimmed)(struct oche_recovery_rx *rx, uint32_t psn, enum oche_trimmed where);
    bool (*next_trimmed)(struct oche_recovery_rx *rx, uint32_t *psn, enum oche_trimmed *where);
    uint32_t (*trimmed_packets)(const struct oche_recovery_tx *tx);
    bool (*trim_told)(struct oche_recovery_tx *tx, uint32_t psn, bool *is_new);

    /* Optional: rx->timer is due. Before this call it has been set to OCHE_NEVER. */
    void (*rx_timer)(struct oche_recovery_rx *rx, oche_time now, struct oche_recovery_reply *reply);

    /*
     * Replaces automatic values among the parameters. Required if the table has any. To be called
     * before a NIC is made; where it is not, automatic values are those of the paper.
     */
    void (*fit)(void *params, const struct oche_recovery_network *network);
    /*
     * Optional: returns a remark for the user if parameters that `fit` has seen are valid but do
     * not suit the network, else NULL. The text follows "a round trip takes up to 20ms, in which a
     * host's link carries 28,000 packets: ".
     */
    const char *(*remark)(const void *params, const struct oche_recovery_network *network);
};

extern const struct oche_recovery_scheme *const oche_recovery_schemes[];
extern const size_t oche_recovery_scheme_count;
const struct oche_recovery_scheme *oche_recovery_find(const char *name);

OCHE_C_END

#endif
