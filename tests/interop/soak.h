/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A process of the soak (soak.c): its objects of verbs, and its links to the other processes. A
 * link is one queue pair of each role, and the memory that the peer writes to, reads from and
 * counts in; it is made anew whenever one of its two processes was.
 */
#ifndef OCHE_TESTS_INTEROP_SOAK_H
#define OCHE_TESTS_INTEROP_SOAK_H

#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stdint.h>

#define PEERS    16 /* processes at most */
#define WINDOW   8  /* messages of a queue pair that its peer has not checked yet, at most */
#define READS    2  /* of a queue pair that are under way, at most */
#define DEPTH    16 /* of the send queue: WINDOW messages, credits, a probe */
#define RECEIVES 16 /* of a queue pair that has its own */
#define SHARED   64 /* of the shared receive queue */
#define QKEY     0x11111111
#define GRH      40

#define RECEIVE_BYTES  (64u << 10) /* longest message that takes a receive */
#define UC_SLOTS       16
#define UC_WINDOW      4
#define DATAGRAM_BYTES 1024
#define SHARED_BYTES   (RECEIVE_BYTES + 4096u) /* from one shared receive's buffer to the next */
#define TABLE_MORE     (1u << 20) /* the table is so much longer than the longest message */

/* The queue pairs of a link. The first ones are reliable. */
enum { ROLE_SHORT, ROLE_LONG, ROLE_TINY, ROLE_SHARED, ROLE_UC, ROLES };
#define RELIABLE ROLE_UC /* the number of reliable queue pairs */

enum soak_op { OP_SEND, OP_SEND_IMM, OP_WRITE, OP_WRITE_IMM, OP_READ, OP_ADD, OP_SWAP, OPS };
enum soak_count { COUNT_UC = OPS, COUNT_UD, COUNTS };

enum soak_work { WORK_MESSAGE, WORK_CREDIT, WORK_PROBE };

/*
 * The bytes of a message are computed from the queue pairs' numbers and the message's number, so
 * both ends know them.
 */
struct soak_message {
    enum soak_op op;
    uint32_t bytes;
    uint32_t offset; /* offset of its bytes in the table that all processes have */
};

/* Work that is posted and not completed yet. */
struct soak_posted {
    enum soak_work work;
    uint32_t number; /* a message's */
    double at;       /* seconds */
};

struct soak_queue {
    struct soak_link *link;
    unsigned role;
    struct ibv_qp *qp;
    uint32_t psn, remote_qpn, remote_psn;
    bool failed;
    double progress; /* when work was completed last, in seconds */

    struct soak_posted posted[DEPTH];
    uint32_t first, last; /* the entries of `posted` in use, counted without end */
    unsigned receives;    /* posted and not completed */

    /* Messages that we send. */
    uint32_t next, done; /* messages that were posted, and that are completed */
    uint32_t forgiven;   /* UC: messages before this one that have not arrived are lost */
    uint64_t place;      /* where the next WRITE goes in the peer's ring, counted without end */
    uint64_t ends[WINDOW];
    uint64_t results[WINDOW]; /* expected of atomics */
    uint64_t word;            /* the peer's, that our atomics count in */
    uint32_t reads_begun, reads_done;

    /* Messages that we receive. */
    uint32_t checked; /* messages */
    uint64_t checked_place;
    bool credit_due, credit_posted;
};

enum soak_state { LINK_DOWN, LINK_MADE, LINK_READY, LINK_LIVE, LINK_FAILING };

/* Places in a link's memory that the peer must know. */
struct soak_remote {
    uint64_t memory, table;
    uint32_t memory_key, table_key;
};

struct soak_link {
    enum soak_state state;
    unsigned peer, epoch;
    double since; /* in seconds */
    struct soak_queue queues[ROLES];
    uint8_t *memory; /* see soak_ends.c */
    struct ibv_mr *mr;
    struct soak_remote remote;
    /* datagrams to and from the peer */
    struct ibv_ah *ah;
    uint32_t datagram_qpn, datagram_next;
};

struct soak {
    unsigned node;
    uint32_t largest;
    double rate;  /* bytes a second */
    double limit; /* seconds that work may take */
    uint8_t timeout, retries;

    struct ibv_context *context;
    struct ibv_pd *pd;
    struct ibv_comp_channel *channel;
    struct ibv_cq *cq;
    struct ibv_srq *srq;
    struct ibv_qp *datagrams;
    unsigned datagrams_posted;
    union ibv_gid gid;
    uint8_t *table;
    struct ibv_mr *table_mr;
    uint8_t *shared; /* buffers of the shared receive queue */
    struct ibv_mr *shared_mr;

    struct soak_link links[PEERS];
    uint64_t random;
    double tokens;
    bool stopping, quitting, doubled;
    uint64_t messages[COUNTS], bytes[COUNTS];
    uint64_t sent_uc, sent_ud, foreign;
    double slowest;
};

#define MUST(right)                                                                                \
    do {                                                                                           \
        if (!(right))                                                                              \
            soak_fail("%s:%d: not so: %s", __FILE__, __LINE__, #right);                            \
    } while (0)

/* Says why, for the script that started this process, and ends. */
_Noreturn void soak_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Tells the script something, as a line. */
void soak_say(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Seconds. */
double soak_now(void);

/* ---- soak_ends.c ---- */

void soak_open(struct soak *s);
void soak_close(struct soak *s);
bool soak_is_reliable(unsigned role);
uint32_t soak_ring_bytes(const struct soak *s);
/* Makes a link's queue pairs and memory. */
void soak_make(struct soak *s, struct soak_link *link);
/* Writes what the peer must know, as one line without its end. */
void soak_print_ends(const struct soak *s, const struct soak_link *link, char *to, size_t bytes);
/* Connects the link with the data that the peer has sent in `ends`. */
void soak_meet(struct soak *s, struct soak_link *link, const char *ends);
void soak_unmake(struct soak_link *link);
/* Moves a queue pair to the error state. */
void soak_end_queue(struct soak_queue *queue);

/* Places in a link's memory. */
volatile uint64_t *soak_credit(const struct soak_link *link, unsigned role);
uint64_t soak_credit_offset(unsigned role);
uint64_t soak_word_offset(unsigned role);
uint64_t *soak_result(const struct soak_link *link, unsigned role, uint32_t number);
uint64_t soak_ring_offset(const struct soak *s, unsigned role);
uint8_t *soak_read_buffer(const struct soak *s, const struct soak_link *link, unsigned role,
                          uint32_t read);
uint8_t *soak_receive_buffer(const struct soak *s, const struct soak_link *link, unsigned role,
                             unsigned number);

/* ---- soak_work.c ---- */

/* Posts one more message of a live link's queue if it may; returns its bytes, or -1. */
int64_t soak_post_message(struct soak *s, struct soak_queue *queue);
/* Posts a datagram to the peer of a live link, if there is room; returns its bytes, or -1. */
int64_t soak_post_datagram(struct soak *s, struct soak_link *link);
/* Posts credits that are due, and probes of queues that have nothing under way. */
void soak_post_others(struct soak *s, struct soak_link *link);
void soak_post_receive(struct soak *s, struct soak_queue *queue, unsigned number);
void soak_post_shared(struct soak *s, unsigned number);
void soak_completed(struct soak *s, const struct ibv_wc *wc);

#endif
