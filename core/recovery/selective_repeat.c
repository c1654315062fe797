/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Selective repeat as in IRN (Mittal et al., "Revisiting network support for RDMA", SIGCOMM 2018;
 * irn.md#loss-recovery): the receiver keeps packets that arrive behind a gap, each NAK tells which
 * packets have arrived, and the sender sends only the missing packets.
 *
 *   Receiver   a packet behind a gap is kept if it lies within the window and names the place of
 *              its payload. Whether it is kept or not, it is answered with a NAK for the expected
 *              PSN, which also tells which packets have arrived behind that PSN (SACK). A duplicate
 *              is answered with an ACK.
 *   Sender     a NAK begins a recovery. It covers the PSNs up to the highest one sent so far and
 *              ends when all of them are acknowledged. The sender sends the packet that the NAK
 *              names; then each packet that has not arrived although a later one has, once; then
 *              new packets, as far as the window allows. Only the timer finds a packet that is lost
 *              twice.
 *   Window     the most PSNs outstanding, a bandwidth-delay product (BDP-FC).
 *   Timer      rto_low while few packets are outstanding, so that the loss of a message's last
 *              packets costs little time; otherwise rto_high. When it expires, the oldest packet is
 *              sent again.
 *
 * Where this differs from IRN, or IRN leaves a choice:
 *   - A SACK covers all PSNs up to the last packet that arrived, even if that packet could not be
 *     kept (a READ request, a SEND without a receive). So the sender counts packets that were not
 *     kept as lost.
 *   - A timeout tells only that the oldest packet is missing, and the sender sends that packet a
 *     second time. When an ACK for the second transmission arrives, all packets sent before it have
 *     arrived or are lost, because packets of a connection take one path. So the sender sends every
 *     packet again that is not known to have arrived, at once; IRN waits for the timer for each of
 *     them. In a recovery that began with a NAK, packets may still be on their way, so only packets
 *     below the highest PSN that has arrived count as lost.
 *   - A receiver that closes one gap and knows of another one sends a NAK instead of an ACK. The
 *     NAK acknowledges the same packets, and its SACK replaces earlier NAKs that may have been
 *     lost.
 *   - Where payloads of kept packets are written to memory at once, as in IRN, an application must
 *     not wait for the last byte of a message in memory instead of a completion. On the wire they
 *     are held until their turn comes, unless memory=as_it_comes (core/qp/receive/placement.h).
 *   - Timeouts do not back off, unless they are measured. When the retries are used up, the
 *     connection's ACK timeout applies.
 *   - rto=measured takes the timeout from round trips, as TCP does (RFC 6298), for networks whose
 *     round trip nobody knows before: SRTT + 4 RTTVAR; rto_high, or the ACK timeout if that is
 *     less, until the first round trip is known; twice as long after each timeout without progress,
 *     up to the connection's ACK timeout, as a peer that is gone must be given up in time. The
 *     second term is at least rto_low and half of SRTT: where a queue is always there, round trips
 *     are so alike that RTTVAR is nearly nothing, and a few packets more in the queue would be a
 *     timeout. The sum is at most rto_most, or the ACK timeout if that is more: a process that was
 *     stopped for seconds makes round trips of seconds.
 *   - With `undo` a timeout may turn out to have been early (RFC 5682; RFC 3522 asks for time
 *     stamps, which RoCE has not). `touched` is where the PSNs end that were sent again since, or
 *     that a SACK has told of. Packets of a connection take one path, so whoever acknowledges more
 *     than that has had una before what lies behind it, or would have sent a NAK for una. Then
 *     nothing more is sent again. Lost ACKs look the same, and so does a loss of which no NAK told:
 *     all of them were lost, or the peer was away until the repair came. Of one packet outstanding
 *     nothing can be said. If the wait was that of a round trip, the timeout is at least what
 *     RFC 4015 sec 3 makes of it, three times the wait, and half of that after each round trip that
 *     is measured. That needs three packets behind `touched`, or a peer that keeps none behind a
 *     gap: if there are fewer, their NAKs may well have been lost, and where much is lost, the
 *     timeouts would grow up to rto_most.
 *   - With `reorder: rack` a missing packet counts as lost only after a time (reorder.h). A repair
 *     counts as lost, too, once a packet that left after it has arrived; IRN leaves that to the
 *     timer. Packets that have arrived behind a gap are no longer in flight for congestion control,
 *     so that new ones leave meanwhile.
 *   - With `reorder: window` the time is fixed, and a limit in packets may come on top, for
 *     networks that spray packets over paths (load-balancing.md#window).
 *   - With `sack: asked` packets behind a gap, and those that fill one, are answered as all others
 *     are: if they ask for an ACK, or are marked. Where packets take many paths, most of them
 * arrive behind a gap, and SACKs would be as many as packets.
 *   - With `undo` a loss may turn out to have been none. Either una moves past the first packet
 *     that was sent again sooner than its second copy can have been acknowledged (RFC 3522, by
 *     time), or the peer reports as many duplicates as packets were sent again (RFC 3708). Then
 *     congestion control is told, and what was planned is no longer sent.
 *
 * With a peer that does not know the extensions both halves work as Go-Back-N: the receiver drops
 * the packets behind a gap and sends one NAK per gap; the sender resumes at the PSN that the NAK
 * names. The halves are in selective_sender.c and selective_receiver.c.
 */
#include "core/recovery/selective_halves.h"

#define ROUND_TRIPS 4 /* in rto_low, as there */

static const char *const rto_names[] = {"fixed", "measured", NULL};
static const char *const reorder_names[] = {"none", "rack", "window", NULL};
static const char *const sack_names[] = {"every", "asked", NULL};
static const char *const memory_names[] = {"in_order", "as_it_comes", NULL};

static const struct oche_param selective_params[] = {
    OCHE_PRESET_ROW(struct oche_selective_repeat_params),
    {OCHE_PARAM(struct oche_selective_repeat_params, window),
     OCHE_IS_COUNT(IRN_WINDOW, 1, OCHE_PSN_BITMAP_BITS), .zero_is_auto = true,
     .where = "IRN sec 3.2; irn.md#window",
     .help = "packets outstanding at most, and kept behind a gap; auto: the largest product of two "
             "hosts' round trip and the slower of their links, at least 110 and at most 4096"},
    {OCHE_PARAM(struct oche_selective_repeat_params, rto_low),
     OCHE_IS_TIME(IRN_RTO_LOW, OCHE_US, OCHE_NEVER), .zero_is_auto = true,
     .where = "IRN sec 3.1; value: irn.md#parameters",
     .help = "timeout while few packets are outstanding; auto: four of the longest round trips, at "
             "least 100us; on the wire milliseconds"},
    {OCHE_PARAM(struct oche_selective_repeat_params, rto_high),
     OCHE_IS_TIME(IRN_RTO_HIGH, OCHE_US, OCHE_NEVER), .zero_is_auto = true,
     .where = "IRN sec 3.1; value: irn.md#parameters",
     .help = "timeout while more are outstanding: the longest round-trip time that queues make; "
             "auto: 220us more than an automatic rto_low, or than rto_low if that is more"},
    {OCHE_PARAM(struct oche_selective_repeat_params, rto),
     OCHE_IS_CHOICE(OCHE_SELECTIVE_RTO_FIXED, rto_names),
     .where = "fixed: IRN sec 3.1; measured: RFC 6298 sec 2",
     .help = "fixed: rto_low and rto_high are the timeouts; measured: by round trips, longer than "
             "those by at least rto_low; rto_high until one is known"},
    {OCHE_PARAM(struct oche_selective_repeat_params, rto_most),
     OCHE_IS_TIME(OCHE_NEVER, OCHE_US, OCHE_NEVER),
     .where = "RFC 6298 sec 2.5; our choice (on the wire 1s)",
     .help = "a measured timeout is at most this, or the ACK timeout if that is more"},
    {OCHE_PARAM(struct oche_selective_repeat_params, probe),
     OCHE_IS_TIME(OCHE_NEVER, OCHE_US, OCHE_NEVER), .where = "our choice (on the wire 200ms)",
     .help = "measured timeouts in a row become no longer than this, so that a link that is up "
             "again is found soon; when the peer is given up does not depend on it"},
    {OCHE_PARAM(struct oche_selective_repeat_params, undo), OCHE_IS_BOOL(false),
     .where = "RFC 5682 sec 3; RFC 4015 sec 3",
     .help = "after a timeout, if an ACK shows that packets were late and not lost, the rest of "
             "them is not sent again, and congestion control is told; likewise after a NAK; on the "
             "wire true"},
    {OCHE_PARAM(struct oche_selective_repeat_params, reorder),
     OCHE_IS_CHOICE(OCHE_SELECTIVE_REORDER_NONE, reorder_names),
     .where = "none: IRN sec 3.1; rack: RFC 8985 sec 6.2; window: load-balancing.md#window",
     .help = "none: a packet is lost as soon as a later one has arrived; rack: only if it is still "
             "missing after a time that adapts; window: by reorder_time and reorder_packets, for "
             "packets that take many paths; on the wire rack"},
    {OCHE_PARAM(struct oche_selective_repeat_params, reorder_time),
     OCHE_IS_TIME(50 * OCHE_US, 0, OCHE_NEVER), .needs = "reorder=window",
     .where = "load-balancing.md#window",
     .help = "a missing packet is lost so long after a later one has arrived; never: the timeout "
             "or reorder_packets find it"},
    {OCHE_PARAM(struct oche_selective_repeat_params, reorder_packets),
     OCHE_IS_COUNT(0, 0, OCHE_PSN_BITMAP_BITS), .needs = "reorder=window",
     .where = "load-balancing.md#window",
     .help = "a missing packet is lost as soon as one has arrived that was sent so many packets "
             "later; 0: only time counts"},
    {OCHE_PARAM(struct oche_selective_repeat_params, sack),
     OCHE_IS_CHOICE(OCHE_SELECTIVE_SACK_EVERY, sack_names),
     .where = "every: IRN sec 3.1; asked: load-balancing.md#sacks",
     .help =
         "every: each packet behind a gap, or into one, is answered; asked: as all others, if it "
         "asks for an ACK (host.ack_every) or is marked"},
    {OCHE_PARAM(struct oche_selective_repeat_params, few_packets),
     OCHE_IS_COUNT(3, 0, OCHE_PSN_BITMAP_BITS), .where = "IRN sec 3.1; irn.md#timeouts",
     .help = "rto_low applies while at most this many packets are outstanding; 0: always "
             "rto_high"},
};

static const struct oche_param selective_wire_params[] = {
    {OCHE_PARAM(struct oche_selective_repeat_params, memory),
     OCHE_IS_CHOICE(OCHE_SELECTIVE_MEMORY_IN_ORDER, memory_names), .where = "irn.md#polling",
     .help = "only for `oche exec --recovery`, as no program looks at memory in a simulation. Data "
             "of WRITEs and SENDs behind a gap; in_order: it goes to the program's memory when the "
             "gap is closed; as_it_comes: when it arrives, as IRN's and other adapters do it"},
};

static const struct oche_deployed in_use[] = {
    {"window", {.u = 0}}, {"rto_low", {.u = 0}}, {"rto_high", {.u = 0}}};

static bool selective_only_asked(const void *params)
{
    return ((const struct oche_selective_repeat_params *)params)->sack == OCHE_SELECTIVE_SACK_ASKED;
}

static bool selective_places_at_once(const void *values)
{
    const struct oche_selective_repeat_params *params = values;

    return params->memory == OCHE_SELECTIVE_MEMORY_AS_IT_COMES;
}

static void selective_fit(void *values, const struct oche_recovery_network *network)
{
    struct oche_selective_repeat_params *params = values;
    oche_time low = (ROUND_TRIPS * network->round_trip + OCHE_US - 1) / OCHE_US * OCHE_US;
    uint64_t window = network->packets > IRN_WINDOW ? network->packets : IRN_WINDOW;

    if (params->window == 0)
        params->window = window < OCHE_PSN_BITMAP_BITS ? window : OCHE_PSN_BITMAP_BITS;
    low = oche_time_max(IRN_RTO_LOW, low);
    if (params->rto_low == 0)
        params->rto_low = low;
    if (params->rto_high == 0)
        params->rto_high =
            oche_time_add(oche_time_max(low, params->rto_low), IRN_RTO_HIGH - IRN_RTO_LOW);
}

static const char *selective_remark(const void *values, const struct oche_recovery_network *network)
{
    const struct oche_selective_repeat_params *params = values;

    const bool fixed = params->rto == OCHE_SELECTIVE_RTO_FIXED;

    if (fixed && params->few_packets > 0 && params->rto_low < network->round_trip)
        return "more than rto_low, so that packets are sent again that have arrived";
    if (params->rto_high < network->round_trip)
        return "more than rto_high, so that packets are sent again that have arrived";
    if (network->reorders && params->reorder == OCHE_SELECTIVE_REORDER_NONE)
        return "they overtake each other, and with reorder: none each overtaken one is sent again; "
               "reorder: window, or rack";
    if (params->window < network->packets)
        return params->window < OCHE_PSN_BITMAP_BITS
                   ? "more than window, so that the link is never full"
                   : "more than window can be (4,096), so that one queue pair never fills the "
                     "link; a larger host.mtu, or recovery: go_back_n";
    return NULL;
}

const struct oche_recovery_scheme oche_recovery_selective_repeat = {
    .name = "selective_repeat",
    .paper = "IRN (Revisiting network support for RDMA, SIGCOMM 2018)",
    .table =
        OCHE_PARAM_TABLE_DEPLOYED(selective_params, struct oche_selective_repeat_params, in_use),
    .wire_table = OCHE_PARAM_TABLE(selective_wire_params, struct oche_selective_repeat_params),
    .any_order = true,
    .tx_state_bytes = sizeof(struct selective_tx),
    .rx_state_bytes = sizeof(struct selective_rx),
    .acked = selective_acked,
    .nak = selective_nak,
    .timeout = selective_timeout,
    .judge = selective_judge,
    .answered = selective_answered,
    .reorder_window = selective_reorder_window,
    .loss_due = selective_loss_due,
    .loss_timer = selective_loss_timer,
    .duplicated = selective_duplicated,
    .read_late = selective_read_late,
    .arrived_packets = selective_arrived_packets,
    .newly_arrived = selective_newly_arrived,
    .rnr_over = selective_rnr_over,
    .sent = selective_sent,
    .passed = selective_passed,
    .rto = selective_rto,
    .probe = selective_probe,
    .wants_rtt = selective_wants_rtt,
    .measured = selective_measured,
    .window_packets = selective_window,
    .arrived = selective_arrived,
    .accepted = selective_accepted,
    .extend = selective_extend,
    .sacked = selective_sacked,
    .placed = selective_placed,
    .holds = selective_holds,
    .places_at_once = selective_places_at_once,
    .only_asked = selective_only_asked,
    .sack = selective_sack,
    .trimmed = selective_trimmed,
    .next_trimmed = selective_next_trimmed,
    .trim_told = selective_trim_told,
    .trimmed_packets = selective_trimmed_packets,
    .fit = selective_fit,
    .remark = selective_remark,
};
