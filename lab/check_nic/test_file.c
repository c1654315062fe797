/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a test of Lumina; see test_file.h. */
#include "lab/check_nic/test_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "params/nic.h"
#include "params/printable.h"
#include "params/units.h"
#include "sim/scenario/document.h"
#include "sim/scenario/events_file.h"
#include "sim/scenario/nic_file.h"

#define ROCE_UDP_PORT 4791

static const char *const verbs[] = {[OCHE_NIC_WRITE] = "write",
                                    [OCHE_NIC_SEND] = "send",
                                    [OCHE_NIC_READ] = "read",
                                    [OCHE_NIC_SEND_READ] = "send_read",
                                    NULL};

const char *oche_nic_verb_name(uint32_t verb)
{
    static const char *const names[] = {"WRITE", "SEND", "READ", "SEND and READ"};

    return names[verb];
}

/* ---- keys that stand for values ---- */

/* The values of `traffic`, with the names of Lumina. */
static const struct oche_param traffic_params[] = {
    {OCHE_PARAM_AS("num-qps", struct oche_nic_test, num_qps), OCHE_IS_COUNT(1, 1, 1024)},
    {OCHE_PARAM_AS("rdma-verb", struct oche_nic_test, verb), OCHE_IS_CHOICE(OCHE_NIC_WRITE, verbs)},
    {OCHE_PARAM_AS("num-msgs-per-qp", struct oche_nic_test, messages), OCHE_IS_COUNT(1, 1, 100000)},
    {OCHE_PARAM_AS("mtu", struct oche_nic_test, mtu_bytes), OCHE_IS_COUNT(1024, 256, 4096)},
    {OCHE_PARAM_AS("message-size", struct oche_nic_test, message_bytes),
     OCHE_IS_COUNT(1, 1, 1 << 30)},
    {OCHE_PARAM_AS("multi-gid", struct oche_nic_test, many_addresses), OCHE_IS_BOOL(false)},
    {OCHE_PARAM_AS("barrier-sync", struct oche_nic_test, barrier), OCHE_IS_BOOL(false)},
    {OCHE_PARAM_AS("tx-depth", struct oche_nic_test, outstanding), OCHE_IS_COUNT(1, 1, 1024)},
    {OCHE_PARAM_AS("min-retransmit-timeout", struct oche_nic_test, timeout_exponent),
     OCHE_IS_COUNT(14, 0, 31)},
    {OCHE_PARAM_AS("max-retransmit-retry", struct oche_nic_test, retries), OCHE_IS_COUNT(7, 0, 7)},
};
static const struct oche_param_table traffic_table =
    OCHE_PARAM_TABLE(traffic_params, struct oche_nic_test);

/* An end's section `roce-parameters`. */
struct roce {
    bool rp, np, adaptive, slow_restart, dcqcn;
    uint64_t cnp_gap_us;
};
static const struct oche_param roce_params[] = {
    {OCHE_PARAM_AS("dcqcn-rp-enable", struct roce, rp), OCHE_IS_BOOL(false)},
    {OCHE_PARAM_AS("dcqcn-np-enable", struct roce, np), OCHE_IS_BOOL(false)},
    {OCHE_PARAM_AS("dcqcn-enable", struct roce, dcqcn), OCHE_IS_BOOL(false)},
    {OCHE_PARAM_AS("min-time-between-cnps", struct roce, cnp_gap_us),
     OCHE_IS_COUNT(OCHE_NEVER, 0, 1000000)},
    {OCHE_PARAM_AS("adaptive-retrans", struct roce, adaptive), OCHE_IS_BOOL(true)},
    {OCHE_PARAM_AS("slow-restart", struct roce, slow_restart), OCHE_IS_BOOL(true)},
};
static const struct oche_param_table roce_table = OCHE_PARAM_TABLE(roce_params, struct roce);

/* Keys without effect here: machines, folders, accounts. */
static const char *const ignored_at_top[] = {
    "local-workspace", "result-path",      "aggregate-pcap-filename",
    "num-repeats",     "requester-mirror", "responder-mirror",
};
static const char *const read_at_top[] = {"rewrite-udp-dst-port", "switch", "requester",
                                          "responder", "traffic"};
static const char *const switch_keys[] = {
    "sde-path",         "workspace", "control-ip",  "username",
    "ssh-key-filepath", "fec-type",  "listen-port", "local-switch-config-path",
    "port-speed"};
static const char *const end_keys[] = {"workspace",        "control-ip", "username",
                                       "ssh-key-filepath", "nic",        "roce-parameters"};
static const char *const nic_keys[] = {"type",    "if-name",     "pci-addr", "ib-device",
                                       "ib-port", "switch-port", "ip-list"};
static const char *const more_of_traffic[] = {"listen-port", "data-pkt-events"};

static bool is_one_of(const char *key, const char *const *words, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(key, words[i]) == 0)
            return true;
    return false;
}

static bool unknown(const struct oche_document *document, const struct oche_yaml *item,
                    const char *const *words, size_t count, struct oche_error *error)
{
    const char *near = oche_nearest_word(item->key, words, count);

    if (near != NULL)
        return oche_document_fail(document, item, NULL, error,
                                  "a test of Lumina has no such key; did you mean %s?", near);
    return oche_document_fail(document, item, NULL, error, "a test of Lumina has no such key");
}

/* Refuses keys that are none of the words. */
static bool check_keys(const struct oche_document *document, const struct oche_yaml *map,
                       const char *const *words, size_t count, struct oche_error *error)
{
    if (map->kind != OCHE_YAML_MAP)
        return oche_document_fail(document, map, NULL, error, "is no map of keys");
    for (uint32_t i = 0; i < map->count; i++)
        if (!is_one_of(map->child[i]->key, words, count))
            return unknown(document, map->child[i], words, count, error);
    return true;
}

static bool read_value(const struct oche_document *document, const struct oche_yaml *item,
                       const struct oche_param *param, void *out, struct oche_error *error)
{
    union oche_value value;
    struct oche_error why;
    char lower[16];
    const char *text = item->text;

    if (item->kind != OCHE_YAML_SCALAR)
        return oche_document_fail(document, item, NULL, error, "is no single value");
    if (param->unit == OCHE_UNIT_BOOL &&
        (strcmp(text, "True") == 0 || strcmp(text, "False") == 0)) {
        snprintf(lower, sizeof(lower), "%s", text[0] == 'T' ? "true" : "false"); /* Python's */
        text = lower;
    }
    if (!oche_value_parse(param, text, &value, &why))
        return oche_document_fail(document, item, NULL, error, "%s", why.text);
    oche_param_set(param, out, value);
    return true;
}

/* Reads the values of `map` that the table has; other keys must be among the words. */
static bool read_table(const struct oche_document *document, const struct oche_yaml *map,
                       const struct oche_param_table *table, const char *const *words, size_t count,
                       void *out, struct oche_error *error)
{
    const char *all[32];
    size_t all_count = 0;

    OCHE_MUST(table->count + count <= OCHE_COUNT_OF(all));
    for (size_t i = 0; i < table->count; i++)
        all[all_count++] = table->params[i].name;
    for (size_t i = 0; i < count; i++)
        all[all_count++] = words[i];
    if (!check_keys(document, map, all, all_count, error))
        return false;
    for (uint32_t i = 0; i < map->count; i++) {
        const struct oche_param *param = oche_param_find(table, map->child[i]->key);

        if (param != NULL && !read_value(document, map->child[i], param, out, error))
            return false;
    }
    return true;
}

/* ---- an end ---- */

/* The adapters that Lumina knows. */
static const struct known {
    const char *type, *profile;
    enum oche_nic_answer nak_brings_cnp; /* if CNPs and slow restart are on */
} known[] = {
    {"CX4", "connectx-4-lx", OCHE_ANSWER_NO},
    {"CX5", "connectx-5", OCHE_ANSWER_YES},
    {"CX6", "connectx-6", OCHE_ANSWER_YES},
    {"E810", "e810", OCHE_ANSWER_NO},
};

static const struct known *find_known(const char *type)
{
    for (size_t i = 0; i < OCHE_COUNT_OF(known); i++)
        if (strcmp(known[i].type, type) == 0)
            return &known[i];
    return NULL;
}

static bool read_adapter(struct oche_nic_end *end, const char *type, struct oche_error *error)
{
    const size_t length = strcspn(type, ",");
    char text[OCHE_NIC_TEXT_BYTES], first[64] = "";
    const struct known *row;

    if (length < sizeof(first))
        memcpy(first, type, length);
    row = find_known(first);
    snprintf(end->name, sizeof(end->name), "%s", type);
    end->nak_brings_cnp = row != NULL ? row->nak_brings_cnp : OCHE_ANSWER_EITHER;
    end->profile = row != NULL ? row->profile : NULL;
    snprintf(text, sizeof(text), "%s%s", row != NULL ? row->profile : "",
             row != NULL ? type + length : ""); /* CX5,nak_delay=2us */
    if (!oche_nic_read(&end->habits, row != NULL ? text : type, error))
        return false;
    end->own_interval = end->habits.cnp_interval;
    return true;
}

/* Timeouts are as asked then: what the adapter has without adaptive ones is not known. */
static void switch_adaptive_off(struct oche_nic_habits *habits)
{
    struct oche_nic_habits ideal;

    oche_param_defaults(&oche_nic_habits_table, &ideal);
    habits->timeouts = ideal.timeouts;
}

static void apply_roce(struct oche_nic_end *end, const struct roce *roce)
{
    end->reacts = roce->rp || roce->dcqcn;
    end->notifies = roce->np || roce->dcqcn;
    end->slow_restart = roce->slow_restart;
    if (roce->cnp_gap_us != OCHE_NEVER)
        end->habits.cnp_interval = roce->cnp_gap_us * OCHE_US;
    if (!roce->adaptive && (end->habits.timeouts.kind == OCHE_TIMEOUTS_CONNECTX6 ||
                            end->habits.timeouts.kind == OCHE_TIMEOUTS_PROFILE))
        switch_adaptive_off(&end->habits);
    if (!end->notifies || !end->slow_restart) {
        if (end->nak_brings_cnp == OCHE_ANSWER_YES)
            end->nak_brings_cnp = OCHE_ANSWER_NO;
        end->habits.nak_brings_cnp = false;
    }
}

static bool read_nic(const struct oche_document *document, const struct oche_yaml *map,
                     struct oche_nic_end *end, struct oche_error *error)
{
    const struct oche_yaml *nic = oche_yaml_find(map, "nic"), *type;
    struct oche_error why;

    if (nic == NULL)
        return oche_document_fail(document, map, "nic", error,
                                  "is missing; write nic: {type: CX6}, or give --nic");
    if (!check_keys(document, nic, nic_keys, OCHE_COUNT_OF(nic_keys), error))
        return false;
    type = oche_yaml_find(nic, "type");
    if (type == NULL || type->kind != OCHE_YAML_SCALAR)
        return oche_document_fail(
            document, nic, "type", error,
            "is missing; write CX4, CX5, CX6, E810, or what `oche nic` lists");
    if (!read_adapter(end, type->text, &why))
        return oche_document_fail(document, type, NULL, error, "%s", why.text);
    return true;
}

static bool read_end(const struct oche_document *document, const char *key, const char *nic,
                     struct oche_nic_end *end, struct oche_error *error)
{
    const struct oche_yaml *root = oche_document_root(document);
    const struct oche_yaml *map = oche_yaml_find(root, key), *roce_map = NULL;
    struct roce roce;

    oche_param_defaults(&roce_table, &roce);
    if (map == NULL && nic == NULL)
        return oche_document_fail(document, root, key, error,
                                  "is missing; write %s: {nic: {type: CX6}}, or give --nic", key);
    if (map != NULL) {
        if (!check_keys(document, map, end_keys, OCHE_COUNT_OF(end_keys), error))
            return false;
        roce_map = oche_yaml_find(map, "roce-parameters");
    }
    if (nic != NULL ? !read_adapter(end, nic, error) : !read_nic(document, map, end, error))
        return false;
    if (roce_map != NULL && !read_table(document, roce_map, &roce_table, NULL, 0, &roce, error))
        return false;
    apply_roce(end, &roce);
    return true;
}

/* ---- the switch ---- */

static bool read_switch(const struct oche_document *document, struct oche_nic_test *test,
                        struct oche_error *error)
{
    static const struct {
        const char *word;
        uint64_t gbps;
    } speeds[] = {{"10G", 10},   {"25G", 25},   {"40G", 40},  {"50G", 50},
                  {"100G", 100}, {"200G", 200}, {"400G", 400}};
    const struct oche_yaml *root = oche_document_root(document);
    const struct oche_yaml *map = oche_yaml_find(root, "switch"), *speed;

    test->port_bps = 100 * OCHE_GBPS;
    if (map == NULL)
        return true;
    if (!check_keys(document, map, switch_keys, OCHE_COUNT_OF(switch_keys), error))
        return false;
    speed = oche_yaml_find(map, "port-speed");
    if (speed == NULL)
        return true;
    for (size_t i = 0; speed->kind == OCHE_YAML_SCALAR && i < OCHE_COUNT_OF(speeds); i++)
        if (strcmp(speed->text, speeds[i].word) == 0) {
            test->port_bps = speeds[i].gbps * OCHE_GBPS;
            return true;
        }
    return oche_document_fail(
        document, speed, NULL, error,
        "is no speed of a port; write 10G, 25G, 40G, 50G, 100G, 200G or 400G");
}

static bool read_udp_port(const struct oche_document *document, struct oche_nic_test *test,
                          struct oche_error *error)
{
    static const struct oche_param port = {
        OCHE_PARAM_AS("rewrite-udp-dst-port", struct oche_nic_test, udp_port),
        OCHE_IS_COUNT(ROCE_UDP_PORT, 1, 65535)};
    const struct oche_yaml *item =
        oche_yaml_find(oche_document_root(document), "rewrite-udp-dst-port");

    test->udp_port = ROCE_UDP_PORT;
    return item == NULL || read_value(document, item, &port, test, error);
}

/* ---- the traffic ---- */

/* Fails because of an event; the first entry of the list with this queue pair and type is meant. */
static bool fail_event(const struct oche_document *document, const struct oche_yaml *list,
                       const char *key, const char *value, struct oche_error *error,
                       const char *message)
{
    const struct oche_yaml *item = NULL;

    for (uint32_t i = 0; i < list->count && item == NULL; i++) {
        item = oche_yaml_find(list->child[i], key);
        item = item != NULL && strcmp(item->text, value) == 0 ? item : NULL;
    }
    return oche_document_fail(document, item != NULL ? item : list, NULL, error, "%s", message);
}

/* Checks the events, which are repeated for each message: their values are those of the list. */
static bool check_events(const struct oche_document *document, const struct oche_nic_test *test,
                         const struct oche_yaml *list, struct oche_error *error)
{
    const char *const *types = oche_param_find(&oche_packet_event_params, "type")->choices;
    char number[32], text[128];

    for (uint32_t i = 0; i < test->event_count; i++) {
        const struct oche_packet_event *event = &test->events[i];
        const char *type = types[event->type];

        if (event->type > OCHE_PACKET_EVENT_BIT_ERROR)
            return fail_event(document, list, "type", type, error,
                              "is none of Lumina's; write drop, ecn or bit-error");
        snprintf(number, sizeof(number), "%llu", (unsigned long long)event->qpn);
        snprintf(text, sizeof(text), "there are only %llu queue pairs, and they count from 0",
                 (unsigned long long)test->num_qps);
        if (event->qpn >= test->num_qps)
            return fail_event(document, list, "qpn", number, error, text);
        if (test->outstanding > 1 && event->type != OCHE_PACKET_EVENT_ECN)
            return fail_event(document, list, "type", type, error,
                              "only ecn is possible with a tx-depth above 1, as in Lumina; iter is "
                              "not defined then");
    }
    return true;
}

/* More packets than half of the PSNs could not be told apart. */
static bool check_size(const struct oche_document *document, const struct oche_nic_test *test,
                       const struct oche_yaml *traffic, struct oche_error *error)
{
    const uint64_t packets = test->messages * oche_nic_message_packets(test);

    if (packets <= OCHE_PSN_MASK / 2)
        return true;
    return oche_document_fail(document, oche_yaml_find(traffic, "num-msgs-per-qp"), NULL, error,
                              "a queue pair would send %llu packets; at most %u are possible",
                              (unsigned long long)packets, OCHE_PSN_MASK / 2);
}

static bool check_mtu(const struct oche_document *document, const struct oche_nic_test *test,
                      const struct oche_yaml *traffic, struct oche_error *error)
{
    if ((test->mtu_bytes & (test->mtu_bytes - 1)) == 0)
        return true;
    return oche_document_fail(document, oche_yaml_find(traffic, "mtu"), NULL, error,
                              "is no MTU; write 256, 512, 1024, 2048 or 4096");
}

static bool read_traffic(const struct oche_document *document, struct oche_nic_test *test,
                         struct oche_error *error)
{
    static const char *const needed[] = {"num-qps", "rdma-verb", "num-msgs-per-qp", "mtu",
                                         "message-size"};
    const struct oche_yaml *root = oche_document_root(document);
    const struct oche_yaml *traffic = oche_yaml_find(root, "traffic"), *list;

    if (traffic == NULL)
        return oche_document_fail(document, root, "traffic", error,
                                  "is missing; it says what the adapters send");
    if (!read_table(document, traffic, &traffic_table, more_of_traffic,
                    OCHE_COUNT_OF(more_of_traffic), test, error))
        return false;
    for (size_t i = 0; i < OCHE_COUNT_OF(needed); i++)
        if (oche_yaml_find(traffic, needed[i]) == NULL)
            return oche_document_fail(document, traffic, needed[i], error, "is missing");
    if (!check_mtu(document, test, traffic, error) || !check_size(document, test, traffic, error))
        return false;
    list = oche_yaml_find(traffic, "data-pkt-events");
    if (list == NULL || list->count == 0)
        return true;
    test->events = calloc(OCHE_MOST_PACKET_EVENTS, sizeof(*test->events));
    OCHE_GOT(test->events != NULL);
    return oche_events_file_read(oche_document_name(document), test->events, &test->event_count,
                                 error) &&
           check_events(document, test, list, error);
}

/* ---- the file ---- */

static bool check_top(const struct oche_document *document, struct oche_error *error)
{
    const char *words[OCHE_COUNT_OF(ignored_at_top) + OCHE_COUNT_OF(read_at_top)];

    memcpy(words, ignored_at_top, sizeof(ignored_at_top));
    memcpy(words + OCHE_COUNT_OF(ignored_at_top), read_at_top, sizeof(read_at_top));
    return check_keys(document, oche_document_root(document), words, OCHE_COUNT_OF(words), error);
}

bool oche_nic_test_read(struct oche_nic_test *test, const char *path, const char *nic,
                        struct oche_error *error)
{
    struct oche_document *document;
    char shown[OCHE_ERROR_BYTES / 2];
    bool whole;

    *test = (struct oche_nic_test){.events = NULL};
    oche_printable(path, shown, sizeof(shown));
    if (access(path, R_OK) != 0)
        return oche_fail(error, "%s: cannot be read: %s; give a test of Lumina", shown,
                         strerror(errno));
    document = oche_document_open(path, error);
    if (document == NULL)
        return false;
    oche_param_defaults(&traffic_table, test);
    whole = check_top(document, error) &&
            read_end(document, "requester", nic, &test->requester, error) &&
            read_end(document, "responder", nic, &test->responder, error) &&
            read_switch(document, test, error) && read_udp_port(document, test, error) &&
            read_traffic(document, test, error);
    oche_document_close(document);
    if (!whole)
        oche_nic_test_free(test);
    return whole;
}

void oche_nic_test_free(struct oche_nic_test *test)
{
    free(test->events);
    test->events = NULL;
}

struct oche_nic_expected oche_nic_test_expected(const struct oche_nic_test *test)
{
    const struct oche_nic_end *end = oche_nic_receiver(test);

    return (struct oche_nic_expected){
        .packets =
            test->verb == OCHE_NIC_SEND_READ ? 0 : test->messages * oche_nic_message_packets(test),
        .cnps = end->notifies,
        .nak_brings_cnp = end->nak_brings_cnp,
        .cnp_interval = end->habits.cnp_interval == OCHE_NEVER ? 0 : end->habits.cnp_interval,
        .marks_itself = end->habits.ingress_mark_bytes != OCHE_NEVER,
    };
}
