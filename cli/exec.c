/* SPDX-License-Identifier: Apache-2.0 */
/*
 * oche exec -- COMMAND: runs a program on this project's verbs library. The library is found beside
 * the program (a build folder) or where `make install` puts it; LD_LIBRARY_PATH and the variables
 * that the library reads (device/verbs/environment.c) are set, and the program replaces this
 * process.
 */
#include <argp.h>
#include <arpa/inet.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "cli/commands.h"
#include "cli/exec_events.h"
#include "cli/exec_link.h"
#include "cli/preflight.h"
#include "cli/refuse.h"
#include "core/cc/cc_messages.h"
#include "device/device.h"
#include "params/fail_rules.h"
#include "params/incast_list.h"
#include "params/nic.h"
#include "params/scheme.h"
#include "params/units.h"
#include "sim/scenario/nic_file.h"
#include "rogue/params.h"

#define LIBRARY    "libibverbs.so.1"
#define RDMACM     "librdmacm.so.1"
#define FILES      "liboche-files.so"  /* device/files/ */
#define ROGUE      "liboche-rogue.so"  /* rogue/verbs/ */
#define SOCKETS    "librspreload.so.1" /* device/rsocket/preload/ */
#define EXIT_HOOKS "liboche-exit.so"   /* device/verbs/exit_hooks.c */

struct options {
    const char *cc, *recovery, *line_rate, *device, *capture, *poll, *source_ports, *peer_ports,
        *entropy;
    const char *incast, *view, *fail;
    struct oche_link_options links;
    const char *events, *nic; /* as the library reads them; NULL: none */
    const char *rogue;        /* its parameters; NULL: not asked for */
    bool ack_priority, files, sockets, stats, strict;
    char **command; /* the command and its arguments; NULL: none was given */
};

enum {
    KEY_ACK_PRIORITY = 0x100,
    KEY_CC,
    KEY_RECOVERY,
    KEY_LINE_RATE,
    KEY_DEVICE,
    KEY_CAPTURE,
    KEY_EVENTS,
    KEY_NIC,
    KEY_POLL,
    KEY_SOURCE_PORTS,
    KEY_PEER_PORTS,
    KEY_ENTROPY,
    KEY_FAIL,
    KEY_FILES,
    KEY_INCAST,
    KEY_LINK,
    KEY_LINK_IN,
    KEY_LINK_OUT,
    KEY_ROGUE,
    KEY_SOCKETS,
    KEY_STATS,
    KEY_STRICT,
    KEY_VIEW
};

static const struct argp_option option_table[] = {
    {"ack-priority", KEY_ACK_PRIORITY, NULL, 0,
     "Send ACKs and NAKs with the DSCP of CNPs, 48, instead of that of data", 0},
    {"cc", KEY_CC, "NAME[,KEY=VALUE…]", 0, "Congestion control; cubic without this option", 0},
    {"recovery", KEY_RECOVERY, "NAME[,KEY=VALUE…]", 0,
     "Recovery from losses; selective_repeat without this option", 0},
    {"line-rate", KEY_LINE_RATE, "RATE", 0,
     "Rate of the link, which is not exceeded; what the interface's hardware says, if it does, "
     "without this option",
     0},
    {"device", KEY_DEVICE, "ADDRESS", 0, "Use this IP address of this host, and no other", 0},
    {"poll", KEY_POLL, "HOW", 0,
     "While nothing arrives: busy (spin), adaptive (the default) or sleep", 0},
    {"source-ports", KEY_SOURCE_PORTS, "N", 0,
     "Send from N UDP ports, chosen by queue pair, 4 without this option; 1: from 4791 alone", 0},
    {"peer-ports", KEY_PEER_PORTS, "WHICH", 0,
     "Take a connected peer's packets from its own UDP port alone (pinned, the default), or from "
     "any, for NATs and adapters that change ports",
     0},
    {"entropy", KEY_ENTROPY, "HOW", 0,
     "Spread a queue pair's packets over the source ports: in turn (oblivious), as ACKs say which "
     "are good (bitmap, reps, mixed), or not (ecmp, the default); with --peer-ports=any",
     0},
    {"capture", KEY_CAPTURE, "FILE", 0,
     "Write what is sent and received to a pcap file; %p in it becomes the process id", 0},
    {"events", KEY_EVENTS, "FILE", 0,
     "What happens to single packets that arrive: drop, ecn, bit-error, delay, reorder or "
     "duplicate, by connection, PSN and pass (docs/faults.md)",
     0},
    {"fail", KEY_FAIL, "CALL=N[,CALL=N…]", 0,
     "Calls that fail on demand: reg_mr=3 is the third, create_qp=2..4:EAGAIN the second to the "
     "fourth with this error",
     0},
    {"files", KEY_FILES, NULL, 0,
     "Let the program find the devices' files in /sys/class/infiniband and /dev/infiniband, "
     "which NCCL, UCX, ibstat and others look for",
     0},
    {"incast", KEY_INCAST, "ADDRESS,ADDRESS[,…]", 0,
     "Hosts that send to one receiver together, the same at all of them and at the receiver: their "
     "messages name all of them, so that dart's shares are right at once",
     0},
    {"link", KEY_LINK, "[PEER:]KEY=VALUE[,…]", 0,
     "Faults of the link to all peers, or to one: loss=0.1%,delay=50us,rate=1Gbps and more "
     "(docs/faults.md), in both directions; @FILE reads them from a file",
     0},
    {"link-in", KEY_LINK_IN, "[PEER:]KEY=VALUE[,…]", 0, "The same for packets that arrive", 0},
    {"link-out", KEY_LINK_OUT, "[PEER:]KEY=VALUE[,…]", 0, "The same for packets that leave", 0},
    {"nic", KEY_NIC, "ADAPTER[,KEY=VALUE…]", 0,
     "Habits of a real adapter: its timeouts, CNPs, errors; `oche nic` lists adapters, a file "
     "ending in .yaml has one of your own. Without --recovery: go_back_n, as adapters have",
     0},
    {"rogue", KEY_ROGUE, "KEY=VALUE[,KEY=VALUE…]", OPTION_ARG_OPTIONAL,
     "Put RoGUE under the program's reliable connections: congestion control and recovery in "
     "software, with a shadow queue pair",
     0},
    {"sockets", KEY_SOCKETS, NULL, 0,
     "Have the program's TCP connections over RDMA, where the other side can; else over TCP", 0},
    {"stats", KEY_STATS, NULL, 0, "Print the device's counters when it is closed", 0},
    {"strict", KEY_STRICT, NULL, 0,
     "Do not forgive what RDMA adapters do not, such as work that is never signaled", 0},
    {"view", KEY_VIEW, "WHERE", 0,
     "Folder in which `oche stat --view` finds the program, instead of where it looks by itself; "
     "off: it does not find it",
     0},
    {0},
};

/* ---- options ---- */

static void check_cc(const struct argp_state *state, const char *name, const char *text)
{
    struct oche_cc_choice choice;
    struct oche_error error;

    if (!oche_cc_parse(&choice, text, &error))
        oche_refuse(state, "%s: %s", name, error.text);
}

static void check_recovery(const struct argp_state *state, const char *name, const char *text)
{
    struct oche_recovery_choice choice;
    struct oche_error error;

    if (!oche_recovery_parse(&choice, text, &error))
        oche_refuse(state, "%s: %s", name, error.text);
}

static void check_line_rate(const struct argp_state *state, const char *name, const char *text)
{
    uint64_t rate_bps;
    struct oche_error error;

    if (!oche_rate_parse(text, &rate_bps, &error))
        oche_refuse(state, "%s: %s", name, error.text);
}

static void check_device(const struct argp_state *state, const char *name, const char *text)
{
    uint8_t address[16];

    if (strchr(text, '%') != NULL)
        oche_refuse(state, "%s: %s: link-local addresses have no device; another one is needed",
                    name, text);
    if (inet_pton(AF_INET, text, address) != 1 && inet_pton(AF_INET6, text, address) != 1)
        oche_refuse(state, "%s: %s: not an IP address; 192.0.2.1 or 2001:db8::1 is", name, text);
}

static void check_poll(const struct argp_state *state, const char *name, const char *text)
{
    if (strcmp(text, "busy") != 0 && strcmp(text, "adaptive") != 0 && strcmp(text, "sleep") != 0)
        oche_refuse(state, "%s: %s: must be busy, adaptive or sleep", name, text);
}

static void check_source_ports(const struct argp_state *state, const char *name, const char *text)
{
    char *end;
    const unsigned long count = strtoul(text, &end, 10);

    if (*end != '\0' || text[0] < '0' || text[0] > '9' || count < 1 ||
        count > OCHE_MAX_SOURCE_PORTS)
        oche_refuse(state, "%s: %s: not a number from 1 to %d", name, text, OCHE_MAX_SOURCE_PORTS);
}

static void check_peer_ports(const struct argp_state *state, const char *name, const char *text)
{
    if (strcmp(text, "pinned") != 0 && strcmp(text, "any") != 0)
        oche_refuse(state, "%s: %s: must be pinned or any", name, text);
}

static void check_entropy(const struct argp_state *state, const char *name, const char *text)
{
    for (uint32_t i = 0; oche_path_choices[i] != NULL; i++)
        if (strcmp(text, oche_path_choices[i]) == 0)
            return;
    oche_refuse(state, "%s: %s: must be ecmp, oblivious, bitmap, reps or mixed", name, text);
}

static void check_nic(const struct argp_state *state, const char *name, const char *text)
{
    struct oche_nic_habits habits;
    struct oche_error error;

    if (!oche_nic_parse(&habits, text, &error))
        oche_refuse(state, "%s: %s", name, error.text);
}

/* Returns the habits as the library reads them: it has no reader of YAML. */
static const char *nic_option(const struct argp_state *state, const char *text)
{
    static char written[OCHE_NIC_TEXT_BYTES];
    struct oche_nic_habits habits;
    struct oche_error error;

    if (!oche_nic_read(&habits, text, &error))
        oche_refuse(state, "--nic: %s", error.text);
    if (!oche_nic_write(&habits, written, sizeof(written)))
        oche_refuse(state, "--nic: %s: too many values that are not an ideal RNIC's", text);
    return written;
}

static void check_incast(const struct argp_state *state, const char *name, const char *text)
{
    struct oche_incast_list list;
    struct oche_error error;

    if (!oche_incast_list_parse(&list, text, &error))
        oche_refuse(state, "%s: %s", name, error.text);
}

/* Refuses an incast's hosts if the scheme, by option or environment, takes no list of them. */
static void check_takes_incast(const struct argp_state *state, const struct options *options)
{
    const char *incast = options->incast != NULL ? options->incast : getenv("OCHE_INCAST");
    const char *cc = options->cc != NULL ? options->cc : getenv("OCHE_CC");
    struct oche_cc_choice choice;
    struct oche_error error;

    if (incast == NULL || *incast == '\0')
        return;
    if (cc == NULL || *cc == '\0' || !oche_cc_parse(&choice, cc, &error) ||
        choice.cc->messages == NULL || choice.cc->messages->names_groups == NULL ||
        !choice.cc->messages->names_groups(&choice.params))
        oche_refuse(state, "%s: needs --cc=dart, with look_ahead",
                    options->incast != NULL ? "--incast" : "OCHE_INCAST");
}

static void check_fail(const struct argp_state *state, const char *name, const char *text)
{
    struct oche_fail_rules rules;
    struct oche_error error;

    if (!oche_fail_rules_parse(&rules, text, &error))
        oche_refuse(state, "%s: %s: %s", name, text, error.text);
}

static void check_view(const struct argp_state *state, const char *name, const char *text)
{
    if (strcmp(text, "off") != 0 && (text[0] != '/' || strlen(text) >= PATH_MAX))
        oche_refuse(state, "%s: %s: must be off or an absolute path", name, text);
}

static void check_rogue(const struct argp_state *state, const char *name, const char *text)
{
    union oche_scheme_params params;
    struct oche_error error;
    const char *wrong = rogue_verbs_check(text);

    if (wrong == NULL && !oche_params_parse("rogue", &rogue_param_table, &params, text, &error))
        oche_refuse(state, "%s: %s", name, error.text);
    if (wrong == NULL)
        wrong = rogue_params_check((const struct rogue_params *)(const void *)&params);
    if (wrong != NULL)
        oche_refuse(state, "%s: %s", name, wrong);
}

/* Checks variables that no option replaces and that the library would reject later. */
static void check_environment(const struct argp_state *state, const struct options *options)
{
    const struct {
        const char *name, *instead;
        void (*check)(const struct argp_state *state, const char *name, const char *text);
    } all[] = {{"OCHE_CC", options->cc, check_cc},
               {"OCHE_RECOVERY", options->recovery, check_recovery},
               {"OCHE_LINE_RATE", options->line_rate, check_line_rate},
               {"OCHE_DEVICE", options->device, check_device},
               {"OCHE_POLL", options->poll, check_poll},
               {"OCHE_SOURCE_PORTS", options->source_ports, check_source_ports},
               {"OCHE_PEER_PORTS", options->peer_ports, check_peer_ports},
               {"OCHE_ENTROPY", options->entropy, check_entropy},
               {"OCHE_FAIL", options->fail, check_fail},
               {"OCHE_INCAST", options->incast, check_incast},
               {"OCHE_EVENTS", options->events, oche_events_check},
               {"OCHE_NIC", options->nic, check_nic},
               {"OCHE_VIEW", options->view, check_view},
               {"OCHE_ROGUE", options->rogue, check_rogue}};

    for (size_t i = 0; i < OCHE_COUNT_OF(all); i++) {
        const char *text = getenv(all[i].name);

        if (all[i].instead == NULL && text != NULL && text[0] != '\0')
            all[i].check(state, all[i].name, text);
    }
}

/* Returns an option's value, or its variable's; "" if there is neither. */
static const char *value_in_effect(const char *option, const char *variable)
{
    const char *text = option != NULL ? option : getenv(variable);

    return text != NULL ? text : "";
}

/* Refuses what device_suits_paths would: a scheme of paths that learns from ACKs needs more. */
static void check_takes_paths(const struct argp_state *state, const struct options *options)
{
    const char *entropy = value_in_effect(options->entropy, "OCHE_ENTROPY");
    const char *peer_ports = value_in_effect(options->peer_ports, "OCHE_PEER_PORTS");
    const char *ports_text = value_in_effect(options->source_ports, "OCHE_SOURCE_PORTS");
    const unsigned long ports = ports_text[0] != '\0' ? strtoul(ports_text, NULL, 10) : 4;
    const char *name = options->entropy != NULL ? "--entropy" : "OCHE_ENTROPY";

    if (entropy[0] == '\0' || strcmp(entropy, "ecmp") == 0 || strcmp(entropy, "oblivious") == 0)
        return;
    if (strcmp(peer_ports, "any") != 0)
        oche_refuse(state,
                    "%s: %s needs --peer-ports=any at both ends, as ACKs come from all ports", name,
                    entropy);
    if (ports < 2 || (ports & (ports - 1)) != 0)
        oche_refuse(state,
                    "%s: %s needs 2, 4, 8, 16, 32 or 64 source ports, at both ends the same number",
                    name, entropy);
}

/* Checks all options together, with the environment. */
static void check_all(const struct argp_state *state, const struct options *options)
{
    if (options->command == NULL)
        oche_refuse(state, "no COMMAND; `oche exec -- ib_write_bw` runs one");
    check_environment(state, options);
    check_takes_incast(state, options);
    check_takes_paths(state, options);
    oche_link_check_environment(state, &options->links);
}

static uint8_t directions_of(int key)
{
    if (key == KEY_LINK)
        return OCHE_LINK_BOTH;
    return key == KEY_LINK_IN ? OCHE_LINK_IN : OCHE_LINK_OUT;
}

/* Returns where an option without an argument is noted, or NULL. */
static bool *flag_of(struct options *options, int key)
{
    switch (key) {
    case KEY_ACK_PRIORITY:
        return &options->ack_priority;
    case KEY_FILES:
        return &options->files;
    case KEY_SOCKETS:
        return &options->sockets;
    case KEY_STATS:
        return &options->stats;
    case KEY_STRICT:
        return &options->strict;
    default:
        return NULL;
    }
}

static void take_faults(const struct argp_state *state, struct options *options, int key,
                        const char *argument)
{
    if (key == KEY_EVENTS)
        options->events = oche_events_option(state, argument);
    else
        oche_link_option(state, &options->links, directions_of(key), argument);
}

static const char *rogue_of(const struct argp_state *state, const char *argument)
{
    const char *parameters = argument != NULL ? argument : "";

    if (argument != NULL && *argument == '\0')
        oche_refuse(state, "--rogue=: no KEY=VALUE; --rogue alone has the defaults");
    check_rogue(state, "--rogue", parameters);
    return parameters;
}

static error_t parse(int key, char *argument, struct argp_state *state)
{
    struct options *options = state->input;

    if (flag_of(options, key) != NULL) {
        *flag_of(options, key) = true;
        return 0;
    }
    switch (key) {
    case KEY_CC:
        check_cc(state, "--cc", options->cc = argument);
        return 0;
    case KEY_RECOVERY:
        check_recovery(state, "--recovery", options->recovery = argument);
        return 0;
    case KEY_LINE_RATE:
        check_line_rate(state, "--line-rate", options->line_rate = argument);
        return 0;
    case KEY_DEVICE:
        check_device(state, "--device", options->device = argument);
        return 0;
    case KEY_POLL:
        check_poll(state, "--poll", options->poll = argument);
        return 0;
    case KEY_SOURCE_PORTS:
        check_source_ports(state, "--source-ports", options->source_ports = argument);
        return 0;
    case KEY_ENTROPY:
        check_entropy(state, "--entropy", options->entropy = argument);
        return 0;
    case KEY_PEER_PORTS:
        check_peer_ports(state, "--peer-ports", options->peer_ports = argument);
        return 0;
    case KEY_CAPTURE:
        if (argument[0] == '\0')
            oche_refuse(state, "--capture: the name of a file is missing");
        options->capture = argument;
        return 0;
    case KEY_FAIL:
        check_fail(state, "--fail", options->fail = argument);
        return 0;
    case KEY_INCAST:
        check_incast(state, "--incast", options->incast = argument);
        return 0;
    case KEY_EVENTS:
    case KEY_LINK:
    case KEY_LINK_IN:
    case KEY_LINK_OUT:
        take_faults(state, options, key, argument);
        return 0;
    case KEY_NIC:
        options->nic = nic_option(state, argument);
        return 0;
    case KEY_ROGUE:
        options->rogue = rogue_of(state, argument);
        return 0;
    case KEY_VIEW:
        check_view(state, "--view", options->view = argument);
        return 0;
    case ARGP_KEY_ARG: /* this argument and all that follow belong to the command */
        options->command = &state->argv[state->next - 1];
        state->next = state->argc;
        return 0;
    case ARGP_KEY_END:
        check_all(state, options);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

#define ENVIRONMENT                                                                                \
    "\nEnvironment variables that options set: OCHE_ACK_PRIORITY, OCHE_CC, OCHE_RECOVERY, "        \
    "OCHE_LINE_RATE, OCHE_DEVICE, OCHE_POLL, OCHE_SOURCE_PORTS, OCHE_PEER_PORTS, OCHE_ENTROPY, "   \
    "OCHE_CAPTURE, "                                                                               \
    "OCHE_EVENTS, OCHE_FAIL, OCHE_INCAST, OCHE_LINK, OCHE_LINK_IN, OCHE_LINK_OUT, OCHE_NIC, "      \
    "OCHE_ROGUE, "                                                                                 \
    "OCHE_STATS, OCHE_STRICT, OCHE_VIEW. Without an option:\n"                                     \
    "  OCHE_DROP=N             short for --link-out=loss=N/1000000\n"                              \
    "  OCHE_REAL_VERBS=FILE    the system's libibverbs.so.1; empty: none\n"                        \
    "  OCHE_REAL_RDMACM=FILE   the system's librdmacm.so.1; empty: none"

/* Returns the text after the options, with the names that the options accept; argp calls this. */
static char *help(int key, const char *text, void *input)
{
    char cc[OCHE_SCHEME_NAMES_BYTES], recovery[OCHE_SCHEME_NAMES_BYTES], *all;

    (void)input;
    if (key != ARGP_KEY_HELP_POST_DOC)
        return (char *)text;
    if (asprintf(&all, "Congestion control: %s.\nRecovery: %s.\n" ENVIRONMENT,
                 oche_cc_names(cc, sizeof(cc)),
                 oche_recovery_names(recovery, sizeof(recovery))) < 0)
        return NULL;
    return all;
}

static const struct argp arguments = {
    .options = option_table,
    .parser = parse,
    .args_doc = "[--] COMMAND [ARGUMENT…]",
    .doc = "Runs a program on a user-space RDMA device (RoCEv2 over UDP, verbs interface).\v",
    .help_filter = help,
};

/* ---- the library ---- */

/*
 * Finds the folder of this program. Returns false if it is unknown: some containers have no /proc.
 */
static bool find_own(char own[PATH_MAX])
{
    const ssize_t count = readlink("/proc/self/exe", own, PATH_MAX - 1);

    if (count > 0)
        own[count] = '\0';
    else if (realpath((const char *)getauxval(AT_EXECFN), own) == NULL)
        return false;
    *strrchr(own, '/') = '\0';
    return true;
}

/*
 * Finds the folder of the library: beside this program, or where it is installed. Returns false if
 * there is no library.
 */
static bool find_library(char *folder, size_t bytes)
{
    char own[PATH_MAX], path[3 * PATH_MAX];
    const char *places[] = {"", "/" OCHE_LIBRARY_FROM_PROGRAM};

    if (!find_own(own))
        return false;
    for (size_t i = 0; i < OCHE_COUNT_OF(places); i++) {
        if (snprintf(folder, bytes, "%s%s", own, places[i]) >= (int)bytes ||
            snprintf(path, sizeof(path), "%s/%s", folder, LIBRARY) >= (int)sizeof(path))
            return false;
        if (access(path, R_OK) == 0)
            return true;
    }
    return false;
}

static bool is_set(const char *name)
{
    const char *value = getenv(name);

    return value != NULL && value[0] != '\0';
}

static void set_variable(const char *name, const char *value)
{
    OCHE_GOT(value == NULL || setenv(name, value, 1) == 0);
}

/* Puts `value` into the environment variable, in front of the user's value. */
static void set_in_front(const char *name, const char *value)
{
    const char *before = getenv(name);
    char *both;

    if (before == NULL || before[0] == '\0') {
        set_variable(name, value);
        return;
    }
    OCHE_GOT(asprintf(&both, "%s:%s", value, before) >= 0 && setenv(name, both, 1) == 0);
    free(both);
}

static bool is_preloaded(const char *name)
{
    const char *all = getenv("LD_PRELOAD");

    return all != NULL && strstr(all, name) != NULL;
}

/*
 * Adds a library to LD_PRELOAD. If `alone`, the library has no dependencies and is added by its
 * path: for a name that it does not find, the dynamic linker prints an error. That happens in each
 * setuid program, and in each program after a script has changed LD_LIBRARY_PATH. Other libraries
 * are added by name and found by LD_LIBRARY_PATH, as their dependencies are. A library whose folder
 * has a blank in its name is added by name, too, because blanks separate entries of LD_PRELOAD. A
 * program compiled with -fsanitize=address refuses to run if any library is before the sanitizer's.
 * Such a program gets none.
 */
static bool preload(const char *option, const char *folder, const char *name, bool alone)
{
    char path[3 * PATH_MAX];

    if (snprintf(path, sizeof(path), "%s/%s", folder, name) >= (int)sizeof(path) ||
        access(path, R_OK) != 0) {
        oche_print_error("oche exec: %sthere is no %s/%s", option, folder, name);
        return false;
    }
    set_in_front("ASAN_OPTIONS", "verify_asan_link_order=0");
    set_in_front("LD_PRELOAD", alone && strpbrk(folder, " \t") == NULL ? path : name);
    return true;
}

/*
 * Loads a library first, by its path, because the program would take another one of that name. It
 * comes last in LD_PRELOAD, because the functions of the other entries may have to come first.
 */
static void preload_path(const char *program, const char *folder, const char *name)
{
    char path[3 * PATH_MAX], *both;
    const char *before;

    if (strpbrk(folder, " \t") != NULL ||
        snprintf(path, sizeof(path), "%s/%s", folder, name) >= (int)sizeof(path)) {
        oche_print_error("oche exec: %s has a DT_RPATH that leads to another %s, and a folder with "
                         "blanks in its name cannot be put before that: %s",
                         program, name, folder);
        return;
    }
    set_in_front("ASAN_OPTIONS", "verify_asan_link_order=0");
    before = getenv("LD_PRELOAD");
    OCHE_GOT(asprintf(&both, "%s%s%s", before != NULL ? before : "", before != NULL ? ":" : "",
                      path) >= 0 &&
             setenv("LD_PRELOAD", both, 1) == 0);
    free(both);
}

/* Makes sure that the program gets our libraries, or prints why it will not. */
static void look_at_program(const char *command, const char *folder, bool files)
{
    struct preflight found;
    struct oche_error line;

    if (!oche_preflight(command, folder, files, &found, &line))
        oche_print_error("oche exec: %s", line.text);
    if (found.rdmacm)
        preload_path(command, folder, RDMACM);
    if (found.verbs)
        preload_path(command, folder, LIBRARY);
}

/* Prints why the command did not start. Returns the exit status that shells use for it. */
static int say_why_not(const char *command, int why)
{
    const bool is_there = strchr(command, '/') != NULL && access(command, F_OK) == 0;

    oche_print_error("oche exec: %s: %s", command,
                     why == ENOENT && is_there
                         ? "its interpreter (#!, or the dynamic linker) is not there"
                         : strerror(why));
    return why == ENOENT ? 127 : 126;
}

int oche_cmd_exec(int argc, char **argv)
{
    struct options options = {0};
    char folder[2 * PATH_MAX];

    if (!oche_parse_arguments(&arguments, argc, argv, ARGP_IN_ORDER, &options))
        return 2;
    if (!find_library(folder, sizeof(folder))) {
        oche_print_error(
            "oche exec: " LIBRARY
            " is neither beside this program nor in " OCHE_LIBRARY_FROM_PROGRAM
            " from there: \"make\" builds it (\"make demo\" builds the simulator alone)");
        return 2;
    }
    if (strpbrk(folder, ":;") != NULL) {
        oche_print_error("oche exec: %s: LD_LIBRARY_PATH cannot have a folder with : or ; in its "
                         "name, put the program into another one",
                         folder);
        return 2;
    }
    if ((options.rogue != NULL && !preload("--rogue: ", folder, ROGUE, false)) ||
        (options.files && !preload("--files: ", folder, FILES, true)) ||
        (options.sockets && !preload("--sockets: ", folder, SOCKETS, false)) ||
        !preload("", folder, EXIT_HOOKS, true))
        return 2;
    if (options.rogue == NULL && getenv("OCHE_ROGUE") != NULL && !is_preloaded(ROGUE))
        oche_print_error("oche exec: OCHE_ROGUE without --rogue: only programs that call "
                         "rogue/rogue.h have RoGUE");
    look_at_program(options.command[0], folder, options.files);
    /* RoGUE is designed for adapters with this setting, so it replaces the device's default. */
    if (options.rogue != NULL && options.recovery == NULL && !is_set("OCHE_RECOVERY"))
        options.recovery = "go_back_n";
    if (options.rogue != NULL && options.cc == NULL && !is_set("OCHE_CC"))
        options.cc = "none";
    set_in_front("LD_LIBRARY_PATH", folder);
    set_variable("OCHE_CC", options.cc);
    set_variable("OCHE_RECOVERY", options.recovery);
    set_variable("OCHE_LINE_RATE", options.line_rate);
    set_variable("OCHE_DEVICE", options.device);
    set_variable("OCHE_POLL", options.poll);
    set_variable("OCHE_SOURCE_PORTS", options.source_ports);
    set_variable("OCHE_PEER_PORTS", options.peer_ports);
    set_variable("OCHE_ENTROPY", options.entropy);
    set_variable("OCHE_CAPTURE", options.capture);
    set_variable("OCHE_ROGUE", options.rogue);
    set_variable("OCHE_VIEW", options.view);
    set_variable("OCHE_INCAST", options.incast);
    set_variable("OCHE_FAIL", options.fail);
    oche_link_set_environment(&options.links);
    set_variable("OCHE_EVENTS", options.events);
    set_variable("OCHE_NIC", options.nic);
    set_variable("OCHE_ACK_PRIORITY", options.ack_priority ? "1" : NULL);
    set_variable("OCHE_STATS", options.stats ? "1" : NULL);
    set_variable("OCHE_STRICT", options.strict ? "1" : NULL);
    execvp(options.command[0], options.command);
    return say_why_not(options.command[0], errno);
}
