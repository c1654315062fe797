/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A watchdog for PAUSE storms, as SONiC's switches have it (rocev2.md#pfc-watchdog). A storm is a
 * queue that its peer keeps paused for so long that this is not congestion: a broken NIC, or a
 * deadlock under PFC. The watchdog gives up such a queue, so that the other queues go on.
 *
 * The watchdog looks at each port and lossless class at multiples of poll_interval. A poll shows a
 * storm if, during the whole interval before it, the class was paused by the peer and sent nothing,
 * and if packets wait now. detection_time of such polls in succession make a storm. What the switch
 * does then is the action:
 *
 *     drop     discards the packets of the queue, and drops those that arrive for it, and those
 *              that arrive at the same port in the same class
 *     forward  ignores the PAUSEs, so the queue sends
 *     alert    only counts
 *
 * With drop and forward the queue is restored when for restoration_time no poll has found a PFC
 * frame for the class, or a PAUSE in effect. With alert the storm ends at the first poll that does
 * not show it.
 *
 * Differs from SONiC: a poll asks for a PAUSE throughout the interval, where SONiC asks for a PFC
 * frame that arrived in it; in intervals of SONiC's length each of them implies the other. A port
 * with action drop or forward still sends PAUSE; SONiC's does not. The watchdog acts at once, where
 * SONiC's acts when a process gets the message.
 */
#ifndef OCHE_FABRIC_PFC_WATCHDOG_H
#define OCHE_FABRIC_PFC_WATCHDOG_H

#include "fabric/mechanism.h"

enum oche_pfc_watchdog_action {
    OCHE_PFC_WATCHDOG_DROP,
    OCHE_PFC_WATCHDOG_FORWARD,
    OCHE_PFC_WATCHDOG_ALERT
};

struct oche_pfc_watchdog_params {
    oche_time detection_time;   /* how long a queue must be stuck */
    oche_time restoration_time; /* how long the queue must then be without PAUSE */
    oche_time poll_interval;    /* at most each of the other two */
    uint32_t action;            /* enum oche_pfc_watchdog_action */
};

enum oche_pfc_watchdog_counter {
    OCHE_PFC_WATCHDOG_DETECTED,
    OCHE_PFC_WATCHDOG_RESTORED,
    OCHE_PFC_WATCHDOG_TX_PACKETS,
    OCHE_PFC_WATCHDOG_TX_DROPPED,
    OCHE_PFC_WATCHDOG_RX_DROPPED,
    OCHE_PFC_WATCHDOG_COUNTERS
};

extern const struct oche_switch_mechanism oche_pfc_watchdog;

#endif
