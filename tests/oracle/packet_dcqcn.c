/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A packet simulator of DCQCN alone: senders that always send, one switch port, one receiver. It
 * was written from the DCQCN paper (sec 3.1, Figs 5 to 7) and docs/papers/dcqcn.md, and shares no
 * code with oche, so that both can be compared (dcqcn_packets.py).
 *
 * Each sender has a link of its own to the switch; the bottleneck is the receiver's link. Links
 * store and forward. All packets are alike. The switch marks at departure by the queue that a
 * packet leaves behind. CNPs find empty links. There are no ACKs, no losses and no PAUSEs. Rates
 * are those of the paper's deployment (docs/papers/dcqcn.md#parameters).
 *
 * usage: packet_dcqcn SENDERS SEED WARMUP_MS BATCHES BATCH_MS
 *
 * Prints a line for each batch of time after the warm-up: mean and mean square of the queue in
 * bytes, mean and mean square of the senders' rates in bits per second, CNPs, and packets that left
 * the switch. Times are in picoseconds.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define US      UINT64_C(1000000)
#define MS      (1000 * US)
#define NEVER   UINT64_MAX
#define SENDERS 64
#define RING    (1 << 16) /* packets on the way to the switch, or in its queue */
#define CNPS    4         /* of one sender that wait or are on the way */

/* Bytes of a packet in a queue and on the line, with preamble and gap; of a CNP on the line. */
#define STORED   (1024 + 14 + 20 + 8 + 12 + 4 + 4)
#define LINE     (STORED + 8 + 12)
#define CNP_LINE (16 + 14 + 20 + 8 + 12 + 4 + 4 + 8 + 12)

#define LINE_BPS       40e9
#define PS_PER_BYTE    200
#define LINK_DELAY     US
#define KMIN           5000
#define KMAX           200000
#define PMAX           0.01
#define GAIN           (1.0 / 256)
#define CNP_INTERVAL   (50 * US)
#define ALPHA_INTERVAL (55 * US)
#define TIMER          (55 * US)
#define BYTE_COUNTER   10000000
#define FAST_RECOVERY  5
#define R_AI           40e6
#define R_HAI          200e6
#define LEAST_RATE     (0.001 * LINE_BPS)

struct sender {
    uint64_t base, due;  /* when the last packet left, and when the next one may */
    uint64_t cnps[CNPS]; /* arrivals of CNPs at the sender; from cnp_first on */
    unsigned cnp_first, cnp_count;
    uint64_t timer_due, alpha_due;
    bool limited;
    double current, target, alpha;
    unsigned times, rounds; /* T and BC of Fig 7 */
    uint64_t bytes;         /* since the byte counter's last event */
    uint64_t np_next;       /* the receiver sends no CNP before this time */
    uint64_t np_due;        /* the last CNP that the receiver has sent, or will send */
    bool np_any;
};

struct sums {
    double queue, queue_square, rate, rate_square;
    uint64_t cnps, packets;
};

struct packet {
    uint64_t arrives; /* at the switch */
    unsigned sender;
};

struct world {
    unsigned count;
    struct sender senders[SENDERS];
    struct packet ring[RING]; /* first: on the way; behind: in the queue */
    uint64_t tail, arrived, head;
    uint64_t free_at; /* when the switch's port is free */
    uint64_t random, queue, now;
    struct sums sums;
};

/* Returns a number that is equally likely anywhere in [0, 1) (SplitMix64). */
static double uniform(struct world *w)
{
    uint64_t z = w->random += UINT64_C(0x9e3779b97f4a7c15);

    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return (double)((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

/* ---- the sender: Fig 7 ---- */

/* A new rate counts from the packet that left last. */
static void set_rate(struct world *w, struct sender *s, double rate)
{
    uint64_t due = s->base + (uint64_t)(LINE * 8 / rate * 1e12);

    s->current = rate;
    s->due = due > w->now ? due : w->now;
}

static void unlimit(struct sender *s)
{
    s->limited = false;
    s->current = s->target = LINE_BPS;
    s->timer_due = s->alpha_due = NEVER;
}

static uint64_t cnp_due(const struct sender *s)
{
    return s->cnp_count > 0 ? s->cnps[s->cnp_first] : NEVER;
}

static void on_cnp(struct world *w, struct sender *s)
{
    double rate;

    s->cnp_first = (s->cnp_first + 1) % CNPS;
    s->cnp_count--;
    w->sums.cnps++;
    if (!s->limited)
        s->alpha = 1.0;
    s->limited = true;
    s->target = s->current;
    rate = s->current * (1.0 - s->alpha / 2.0);
    s->alpha = (1.0 - GAIN) * s->alpha + GAIN;
    s->times = s->rounds = 0;
    s->bytes = 0;
    s->timer_due = w->now + TIMER;
    s->alpha_due = w->now + ALPHA_INTERVAL;
    set_rate(w, s, rate < LEAST_RATE ? LEAST_RATE : rate);
}

static void increase(struct world *w, struct sender *s)
{
    unsigned most = s->times > s->rounds ? s->times : s->rounds;
    unsigned least = s->times > s->rounds ? s->rounds : s->times;

    if (least > FAST_RECOVERY)
        s->target += (least - FAST_RECOVERY) * R_HAI;
    else if (most >= FAST_RECOVERY)
        s->target += R_AI;
    if (s->target > LINE_BPS)
        s->target = LINE_BPS;
    set_rate(w, s, (s->current + s->target) / 2.0);
    if (s->current > LINE_BPS - 0.5)
        unlimit(s);
}

static void send_packet(struct world *w, unsigned index)
{
    struct sender *s = &w->senders[index];

    w->ring[w->tail % RING] = (struct packet){
        .arrives = w->now + LINE * PS_PER_BYTE + LINK_DELAY,
        .sender = index,
    };
    w->tail++;
    if (w->tail - w->head >= RING)
        exit(3);
    s->base = w->now;
    set_rate(w, s, s->current);
    if (!s->limited)
        return;
    s->bytes += LINE;
    if (s->bytes < BYTE_COUNTER)
        return;
    s->bytes = 0;
    s->rounds++;
    increase(w, s);
}

/* ---- the switch: Fig 5; the receiver: Fig 6 ---- */

static void marked_arrives(struct sender *s, uint64_t now)
{
    if (s->np_any && now <= s->np_due)
        return; /* a CNP waits already */
    s->np_due = s->np_any && now < s->np_next ? s->np_next : now;
    s->np_next = s->np_due + CNP_INTERVAL;
    s->np_any = true;
    if (s->cnp_count == CNPS)
        exit(3);
    s->cnps[(s->cnp_first + s->cnp_count++) % CNPS] =
        s->np_due + 2 * (CNP_LINE * PS_PER_BYTE + LINK_DELAY);
}

static void depart(struct world *w)
{
    struct packet packet = w->ring[w->head++ % RING];
    double mark = 0.0;

    w->queue -= STORED;
    w->free_at = w->now + LINE * PS_PER_BYTE;
    w->sums.packets++;
    if (w->queue > KMAX)
        mark = 1.0;
    else if (w->queue > KMIN)
        mark = PMAX * (double)(w->queue - KMIN) / (KMAX - KMIN);
    if (uniform(w) < mark)
        marked_arrives(&w->senders[packet.sender], w->free_at + LINK_DELAY);
}

/* ---- */

static void sooner(uint64_t *least, uint64_t time)
{
    if (time < *least)
        *least = time;
}

static uint64_t next_event(const struct world *w)
{
    uint64_t next = NEVER;

    for (unsigned i = 0; i < w->count; i++) {
        const struct sender *s = &w->senders[i];
        sooner(&next, s->due);
        sooner(&next, cnp_due(s));
        sooner(&next, s->timer_due);
        sooner(&next, s->alpha_due);
    }
    if (w->arrived < w->tail)
        sooner(&next, w->ring[w->arrived % RING].arrives);
    if (w->head < w->arrived)
        sooner(&next, w->free_at > w->now ? w->free_at : w->now);
    return next;
}

static void handle(struct world *w)
{
    while (w->arrived < w->tail && w->ring[w->arrived % RING].arrives <= w->now) {
        w->arrived++;
        w->queue += STORED;
    }
    if (w->head < w->arrived && w->free_at <= w->now)
        depart(w);
    for (unsigned i = 0; i < w->count; i++) {
        struct sender *s = &w->senders[i];
        if (cnp_due(s) <= w->now)
            on_cnp(w, s);
        if (s->alpha_due <= w->now) {
            s->alpha *= 1.0 - GAIN;
            s->alpha_due += ALPHA_INTERVAL;
        }
        if (s->timer_due <= w->now) {
            s->timer_due += TIMER;
            s->times++;
            increase(w, s);
        }
        if (s->due <= w->now)
            send_packet(w, i);
    }
}

static void run(struct world *w, uint64_t end)
{
    while (w->now < end) {
        uint64_t next = next_event(w);
        double queue = (double)w->queue;

        if (next > end)
            next = end;
        double span = (double)(next - w->now);
        w->sums.queue += span * queue;
        w->sums.queue_square += span * queue * queue;
        for (unsigned i = 0; i < w->count; i++) {
            double rate = w->senders[i].current;
            w->sums.rate += span * rate / w->count;
            w->sums.rate_square += span * rate * rate / w->count;
        }
        w->now = next;
        handle(w);
    }
}

int main(int argc, char **argv)
{
    static struct world w;

    if (argc != 6)
        return 2;
    w.count = (unsigned)strtoul(argv[1], NULL, 10);
    w.random = strtoull(argv[2], NULL, 10);
    if (w.count < 1 || w.count > SENDERS)
        return 2;
    for (unsigned i = 0; i < w.count; i++) {
        struct sender *s = &w.senders[i];
        unlimit(s);
        s->due = i * 10000; /* not all at once */
    }
    run(&w, strtoull(argv[3], NULL, 10) * MS);
    uint64_t span = strtoull(argv[5], NULL, 10) * MS;
    for (uint64_t left = strtoull(argv[4], NULL, 10); left > 0; left--) {
        w.sums = (struct sums){.queue = 0.0};
        run(&w, w.now + span);
        printf("%.17g %.17g %.17g %.17g %llu %llu\n", w.sums.queue / (double)span,
               w.sums.queue_square / (double)span, w.sums.rate / (double)span,
               w.sums.rate_square / (double)span, (unsigned long long)w.sums.cnps,
               (unsigned long long)w.sums.packets);
    }
    return 0;
}
