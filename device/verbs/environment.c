/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The user's choices, in environment variables, which `oche exec` sets from its options:
 *
 *   OCHE_CC         congestion control scheme; default cubic
 *   OCHE_RECOVERY   loss recovery scheme; default selective_repeat (wire_presets.c)
 *                   either with parameters: timely,t_low=5ms,t_high=50ms
 *   OCHE_LINE_RATE  the link's rate, at which the schemes start; default 100Gbps
 *   OCHE_DEVICE     the only address to use
 *   OCHE_CAPTURE    a pcap file; %p: process id (capture.h tells when its name changes)
 *   OCHE_POLL       what to do with the processor while nothing arrives:
 *                     busy      threads that poll or wait spin
 *                     adaptive  the default
 *                     sleep     threads that poll in vain sleep, up to a millisecond at a time,
 *                               until something arrives
 *   OCHE_SOURCE_PORTS  number of UDP ports that packets leave from; 1: 4791 alone
 *   OCHE_PEER_PORTS where a connected peer's packets may come from:
 *                     pinned  the port of its first packet (peer_ports.h), the default
 *                     any     whatever port, for NATs and adapters that change ports
 *   OCHE_NIC        the adapter whose habits the device has (params/nic.h): connectx-6
 *   OCHE_ACK_PRIORITY  any value but empty: ACKs have the DSCP of CNPs
 *   OCHE_INCAST     addresses of the hosts that send to one receiver together, with dart
 *   OCHE_REAL_VERBS the system's libibverbs.so.1; empty: none (system.c)
 *   OCHE_REAL_RDMACM  the system's librdmacm.so.1, as that (device/cm/system.c)
 *   OCHE_STRICT     any value but empty: do not forgive what adapters do not (strict.c)
 *   OCHE_VIEW       where `oche stat` finds the process (device/view/place.h): a folder; off:
 *                   nowhere
 *   OCHE_STATS      any value but empty: print counters to standard error when a device is closed
 *   OCHE_LINK       faults of links to peers, in both directions (device/link/spec.h); several
 *                   rules are separated by semicolons
 *   OCHE_LINK_IN, OCHE_LINK_OUT  the same, for packets that arrive, or that leave
 *   OCHE_EVENTS     what happens to single packets that arrive (device/link/event_text.h)
 *   OCHE_FAIL       calls that fail on demand (params/fail_rules.h): reg_mr=3,create_qp=1
 *   OCHE_DROP       N: short for OCHE_LINK_OUT=loss=N/1000000
 */
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/wire/opcode.h"
#include "device/link/spec.h"
#include "device/verbs/internal.h"
#include "device/view/format.h"
#include "params/incast_list.h"
#include "params/nic.h"
#include "params/say.h"
#include "params/scheme.h"
#include "params/units.h"

void ov_say(const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    oche_say_line(format, arguments);
    va_end(arguments);
}

void ov_say_once(enum ov_once kind, const char *format, ...)
{
    static _Atomic bool told[OV_ONCES];
    char line[512];
    va_list arguments;

    if (atomic_exchange(&told[kind], true))
        return;
    va_start(arguments, format);
    vsnprintf(line, sizeof(line), format, arguments);
    va_end(arguments);
    ov_say("%s", line);
}

/* Called by the core if an invariant is broken, which is a bug in oche. */
void oche_panic(const char *file, int line, const char *what)
{
    ov_say("%s:%d: broken invariant: %s; this is a bug", file, line, what);
    abort();
}

/* Copies `from` with the process id in place of each %p. */
static const char *with_process_id(const char *from, char *to, size_t bytes)
{
    size_t at = 0;

    for (; *from != '\0' && at + 12 < bytes; from++) {
        if (from[0] == '%' && from[1] == 'p') {
            at += (size_t)snprintf(to + at, bytes - at, "%d", (int)getpid());
            from++;
        } else {
            to[at++] = *from;
        }
    }
    to[at] = '\0';
    return to;
}

static const char *value_of(const char *name)
{
    const char *value = secure_getenv(name);

    return value != NULL && value[0] != '\0' ? value : NULL;
}

/* Returns the number of received packets that were invalid, apart from those with a wrong ICRC. */
static uint64_t malformed(const struct oche_device_stats *stats)
{
    uint64_t sum = 0;

    for (unsigned i = 0; i < OCHE_WIRE_ERROR_COUNT; i++)
        sum += i != OCHE_WIRE_OK && i != OCHE_WIRE_ICRC ? stats->wrong[i] : 0;
    return sum;
}

/*
 * Returns the number of ACKs and NAKs to which the scheme has added a header, by the scheme's own
 * counters.
 */
static uint64_t stamped_acks(const struct oche_counters *counters, const uint64_t *counted)
{
    uint64_t sum = 0;

    for (unsigned i = 0; counters != NULL && i < counters->count; i++)
        if (counters->rows[i].opcode != 0 &&
            (oche_opcode(counters->rows[i].opcode)->flags & OCHE_OP_HAS(AETH)))
            sum += counted[i];
    return sum;
}

/* Prints the scheme's own counters in one line, if it has any. */
static void print_counters(const char *address, const struct oche_counters *counters,
                           const uint64_t *counted)
{
    char text[400] = "";
    size_t at = 0;

    for (unsigned i = 0; counters != NULL && i < counters->count && at < sizeof(text); i++)
        at += (size_t)snprintf(text + at, sizeof(text) - at, "%s %s %" PRIu64, i > 0 ? "," : "",
                               counters->rows[i].name, counted[i]);
    if (at > 0)
        ov_say("%s: counters of %s:%s", address, counters->prefix, text);
}

const char *ov_cc(void)
{
    const char *cc = value_of("OCHE_CC");

    return cc != NULL ? cc : "cubic";
}

const char *ov_recovery(void)
{
    const char *recovery = value_of("OCHE_RECOVERY");

    if (recovery == NULL && value_of("OCHE_NIC") != NULL)
        return "go_back_n";
    return recovery != NULL ? recovery : "selective_repeat";
}

bool ov_has_defaults(void)
{
    return value_of("OCHE_CC") == NULL && value_of("OCHE_RECOVERY") == NULL;
}

void ov_warn_unlimited(const struct oche_qp_config *config)
{
    struct oche_cc_choice choice;
    struct oche_error error;

    if (config->transport != OCHE_TRANSPORT_UC || value_of("OCHE_CC") == NULL ||
        !oche_cc_parse(&choice, ov_cc(), &error) ||
        (choice.cc->transports >> OCHE_TRANSPORT_UC & 1) != 0)
        return;
    ov_say_once(OV_ONCE_UNLIMITED,
                "%s reacts to ACKs, which unreliable connections (UC) do not have: they send "
                "without congestion control",
                choice.cc->name);
}

bool ov_is_strict(void)
{
    return value_of("OCHE_STRICT") != NULL;
}

bool ov_wants_stats(void)
{
    return value_of("OCHE_STATS") != NULL;
}

/*
 * At the process's end a stopped thread may have the lock for ever: then the counters are read
 * without the lock.
 */
OCHE_UNCHECKED static void report_counters(struct ov_port *port)
{
    uint64_t counted[OCHE_MOST_COUNTERS] = {0}, all[OCHE_VIEW_COUNTERS];
    const struct timespec end = ov_soon();
    struct oche_device_stats s;
    char address[OCHE_ADDRESS_TEXT];
    const void *state;
    bool locked;

    if (!ov_wants_stats())
        return;
    locked = oche_device_lock_within(port->device, &end);
    oche_device_stats_now(port->device, &s);
    const struct oche_counters *counters = oche_nic_counters(oche_device_nic(port->device), &state);
    if (counters != NULL)
        oche_counters_add(counters, state, counted);
    oche_device_counters_now(port->device, all);
    if (locked)
        oche_device_unlock(port->device);
    oche_address_print(&port->address, address);
    ov_say("%s: sent %" PRIu64 " packets in %" PRIu64 " datagrams, received %" PRIu64 " in %" PRIu64
           "; waited for a full socket %" PRIu64 ", not sent %" PRIu64 ", strangers %" PRIu64
           ", malformed %" PRIu64 ", wrong ICRC %" PRIu64 ", passed on to other processes %" PRIu64
           ", from them %" PRIu64 ", lost on that way %" PRIu64 ", source ports %" PRIu32
           ", from a peer's other ports %" PRIu64 ", dropped by the kernel %" PRIu64,
           address, s.sent_packets, s.sent_datagrams, s.received_packets, s.received_datagrams,
           s.send_full, s.send_errors, s.strangers, malformed(&s), s.wrong[OCHE_WIRE_ICRC],
           s.passed_on, s.taken_over, s.pass_lost, s.source_ports, s.strange_ports, s.kernel_drops);
    ov_say(
        "%s: recovery %s: again %" PRIu64 ", timeouts %" PRIu64 ", NAKs sent %" PRIu64
        " received %" PRIu64 ", RNR NAKs sent %" PRIu64 " received %" PRIu64 ", duplicates %" PRIu64
        ", out of order %" PRIu64 ", of these kept %" PRIu64 ", rejected %" PRIu64
        ", early timeouts %" PRIu64 ", early losses %" PRIu64 ", adaptive %" PRIu64,
        address, ov_recovery(), s.nic.retransmitted_packets, s.nic.timeouts, s.nic.naks_sent,
        s.nic.naks_received, s.nic.rnr_naks_sent, s.nic.rnr_naks_received, s.nic.duplicate_packets,
        s.nic.out_of_order_packets, s.nic.placed_packets, s.nic.rejected_packets,
        s.nic.early_timeouts, s.nic.early_losses, s.nic.adaptive_timeouts);
    ov_say("%s: congestion control %s: ACKs sent %" PRIu64 " received %" PRIu64 " stamped %" PRIu64
           ", CNPs sent %" PRIu64 " received %" PRIu64 ", CE received %" PRIu64 " marked %" PRIu64
           ", packets of its own sent %" PRIu64 " received %" PRIu64 "; ACKs held %" PRIu64
           " times, in vain %" PRIu64,
           address, ov_cc(), s.nic.acks_sent, s.nic.acks_received, stamped_acks(counters, counted),
           s.nic.cnps_sent, s.nic.cnps_received, s.nic.ce_received, s.nic.ce_marked,
           s.nic.cc_packets_sent, s.nic.cc_packets_received, s.held, s.held_in_vain);
    print_counters(address, counters, counted);
    ov_report_causes(address, all);
}

void ov_report_stats(struct ov_port *port)
{
    report_counters(port);
    ov_report_events(port);
    ov_report_links(port);
    ov_report_fails();
}

/*
 * Reads a number. If the variable is not set, *number stays as it was. Returns false, after
 * printing a line with the reason, if the value is not a number from `least` to `most`.
 */
static bool read_number(const char *name, const char *meaning, uint32_t least, uint32_t most,
                        uint32_t *number)
{
    const char *text = value_of(name);
    char *end;
    unsigned long value;

    if (text == NULL)
        return true;
    value = strtoul(text, &end, 10);
    if (*end != '\0' || text[0] < '0' || text[0] > '9' || value < least || value > most) {
        ov_say("%s=%s: %s, %u to %u", name, text, meaning, least, most);
        return false;
    }
    *number = (uint32_t)value;
    return true;
}

bool ov_poll_mode(enum ov_poll *mode)
{
    static const char *const names[] = {
        [OV_POLL_ADAPTIVE] = "adaptive", [OV_POLL_BUSY] = "busy", [OV_POLL_SLEEP] = "sleep"};
    const char *text = value_of("OCHE_POLL");

    *mode = OV_POLL_ADAPTIVE;
    if (text == NULL)
        return true;
    for (unsigned i = 0; i < OCHE_COUNT_OF(names); i++)
        if (strcmp(text, names[i]) == 0) {
            *mode = (enum ov_poll)i;
            return true;
        }
    ov_say("OCHE_POLL=%s: must be busy, adaptive or sleep", text);
    return false;
}

/* Called under the lock of all ports, as ov_environment is; the device copies the parameters. */
static bool read_schemes(struct oche_device_config *config)
{
    static struct oche_cc_choice cc;
    static struct oche_recovery_choice recovery;
    struct oche_error error;

    if (!oche_cc_parse(&cc, ov_cc(), &error)) {
        ov_say("OCHE_CC: %s", error.text);
        return false;
    }
    config->cc = cc.cc;
    config->cc_params = &cc.params;
    config->cc_free = cc.free;
    if (!oche_recovery_parse(&recovery, ov_recovery(), &error)) {
        ov_say("OCHE_RECOVERY: %s", error.text);
        return false;
    }
    ov_wire_presets(&cc, &recovery);
    config->recovery = recovery.recovery;
    config->recovery_params = &recovery.params;
    return true;
}

static bool read_line_rate(struct oche_device_config *config)
{
    const char *text = value_of("OCHE_LINE_RATE");
    struct oche_error error;

    if (text == NULL || oche_rate_parse(text, &config->line_rate_bps, &error))
        return true;
    ov_say("OCHE_LINE_RATE: %s", error.text);
    return false;
}

/* Called under the lock of all ports; the device copies the list. */
static bool read_incast(struct oche_device_config *config)
{
    static struct oche_incast_list list;
    const char *text = value_of("OCHE_INCAST");
    struct oche_error error;

    if (text == NULL)
        return true;
    config->incast = &list;
    if (oche_incast_list_parse(&list, text, &error))
        return true;
    ov_say("OCHE_INCAST: %s", error.text);
    return false;
}

static bool read_peer_ports(struct oche_device_config *config)
{
    const char *text = value_of("OCHE_PEER_PORTS");

    config->any_peer_ports = text != NULL && strcmp(text, "any") == 0;
    if (text == NULL || config->any_peer_ports || strcmp(text, "pinned") == 0)
        return true;
    ov_say("OCHE_PEER_PORTS=%s: must be pinned or any", text);
    return false;
}

static bool read_entropy(struct oche_device_config *config)
{
    const char *text = value_of("OCHE_ENTROPY");

    config->paths = NULL;
    if (text == NULL)
        return true;
    for (uint32_t i = 0; oche_path_choices[i] != NULL; i++) {
        config->paths = oche_path_scheme(i);
        if (strcmp(text, oche_path_choices[i]) == 0)
            return true;
    }
    ov_say("OCHE_ENTROPY=%s: must be ecmp, oblivious, bitmap, reps or mixed", text);
    return false;
}

bool ov_view_wanted(const char **folder)
{
    *folder = value_of("OCHE_VIEW");
    return *folder == NULL || strcmp(*folder, "off") != 0;
}

static bool read_view(void)
{
    const char *folder;

    if (!ov_view_wanted(&folder) || folder == NULL ||
        (folder[0] == '/' && strlen(folder) < PATH_MAX))
        return true;
    ov_say("OCHE_VIEW=%s: must be off or the path of a folder", folder);
    return false;
}

/* Called under the lock of all ports; the device copies the rules. */
static bool read_links(struct oche_device_config *config)
{
    static struct oche_link_plan plan;
    static const struct {
        const char *name;
        uint8_t directions;
    } all[] = {{"OCHE_LINK", OCHE_LINK_BOTH},
               {"OCHE_LINK_IN", OCHE_LINK_IN},
               {"OCHE_LINK_OUT", OCHE_LINK_OUT}};
    struct oche_error error;
    uint32_t lost = 0;

    plan = (struct oche_link_plan){.rule_count = 0};
    config->links = &plan;
    for (size_t i = 0; i < OCHE_COUNT_OF(all); i++) {
        const char *text = value_of(all[i].name);

        if (text != NULL && !oche_link_plan_add_all(&plan, all[i].directions, text, &error)) {
            ov_say("%s: %s", all[i].name, error.text);
            return false;
        }
    }
    if (!read_number("OCHE_DROP", "must be a number of packets in a million", 0, 1000000, &lost))
        return false;
    if (lost == 0 || oche_link_plan_add_loss(&plan, OCHE_LINK_OUT, lost, &error))
        return true;
    ov_say("OCHE_DROP: %s; write loss=%u/1000000 in OCHE_LINK", error.text, lost);
    return false;
}

bool ov_fail_environment(void)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static bool is_read;
    const char *text = value_of("OCHE_FAIL");
    struct oche_fail_rules rules;
    struct oche_error error;
    bool right = true;

    if (text == NULL)
        return true;
    pthread_mutex_lock(&lock);
    if (!is_read) {
        right = is_read = oche_fail_rules_parse(&rules, text, &error);
        if (right)
            ov_fail_begin(&rules);
        else
            ov_say("OCHE_FAIL: %s", error.text);
    }
    pthread_mutex_unlock(&lock);
    return right;
}

/* The adapter that was chosen; all devices of the process are one. */
static _Atomic uint32_t vendor_errors;

enum oche_vendor_errors ov_vendor_errors(void)
{
    return (enum oche_vendor_errors)atomic_load_explicit(&vendor_errors, memory_order_relaxed);
}

/* Reads the adapter. */
static bool read_nic(struct oche_device_config *config)
{
    static _Thread_local struct oche_nic_habits habits;
    const char *text = value_of("OCHE_NIC");
    struct oche_error error;

    if (text == NULL)
        return true;
    if (!oche_nic_parse(&habits, text, &error)) {
        ov_say("OCHE_NIC: %s", error.text);
        return false;
    }
    config->habits = &habits;
    atomic_store_explicit(&vendor_errors, habits.vendor_errors, memory_order_relaxed);
    return true;
}

bool ov_environment(struct oche_device_config *config)
{
    static char capture[PATH_MAX];
    const char *name;

    if (!read_nic(config) || !read_schemes(config) || !read_line_rate(config) ||
        !read_peer_ports(config) || !read_entropy(config) || !read_view() || !read_incast(config) ||
        !read_links(config) || !ov_read_events(value_of("OCHE_EVENTS"), config))
        return false;
    config->ack_priority = value_of("OCHE_ACK_PRIORITY") != NULL;
    name = value_of("OCHE_CAPTURE");
    if (name != NULL)
        config->capture = with_process_id(name, capture, sizeof(capture));
    return read_number("OCHE_SOURCE_PORTS", "must be a number of UDP ports to send from", 1,
                       OCHE_MAX_SOURCE_PORTS, &config->source_ports);
}
