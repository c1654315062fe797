/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The links of a device, without a network: which rule a peer has, steps in time, changes at run
 * time, duplicates, marks, and a line that two devices share by a file.
 */
#include <stdio.h>
#include <string.h>

#include "tests/support/test.h"

#define TEST_FILE "link-1"
#include "tests/support/temporary_folder.h"

#include "core/wire/packet.h"
#include "device/link/links.h"

#define BYTES 1000
#define FRAME 1070

static struct oche_clock clock_of_device;

static struct oche_address address(const char *text)
{
    struct oche_address parsed;

    assert_true(oche_address_parse(text, &parsed));
    return parsed;
}

static struct oche_links *open_links(const char *rules, const char *shared)
{
    static struct oche_link_plan plan;
    struct oche_error error = {.text = ""};
    struct oche_links *links;

    plan = (struct oche_link_plan){.rule_count = 0};
    if (rules != NULL && !oche_link_plan_add_all(&plan, OCHE_LINK_OUT, rules, &error))
        fail_msg("%s", error.text);
    links = oche_links_open(&(struct oche_links_config){.plan = rules != NULL ? &plan : NULL,
                                                        .clock = &clock_of_device,
                                                        .seed = 1,
                                                        .packet_bytes = 2000,
                                                        .path = shared},
                            &error);
    assert_non_null(links);
    return links;
}

/* Sends a packet that may be marked. Returns false if it is lost. */
static bool put(struct oche_links *links, const char *to, oche_time now, uint32_t number)
{
    const struct oche_address peer = address(to);
    const int link = oche_links_find(links, OCHE_LINK_OUT, &peer);
    uint8_t bytes[BYTES] = {0};
    struct oche_parcel *parcel;

    assert_true(link != OCHE_NO_LINK);
    memcpy(bytes, &number, sizeof(number));
    parcel = oche_links_send(links, link, now, bytes, BYTES, FRAME, OCHE_ECN_ECT0);
    if (parcel != NULL)
        parcel->peer = peer;
    return parcel != NULL;
}

/* Takes the next packet that has arrived. Returns its number, -1: none. */
static int64_t take(struct oche_links *links, oche_time now, uint8_t *tos)
{
    struct oche_parcel *parcel = oche_links_arrived(links, OCHE_LINK_OUT, now);
    uint32_t number;

    if (parcel == NULL)
        return -1;
    assert_int_equal(parcel->count, BYTES);
    memcpy(&number, parcel->bytes, sizeof(number));
    if (tos != NULL)
        *tos = parcel->tos;
    oche_links_done(links, parcel);
    return number;
}

static void rules_by_peer(void **state)
{
    struct oche_links *links =
        open_links("delay=1ms;192.0.2.7:loss=1;[2001:db8::7]:delay=2ms", NULL);
    const struct oche_address other = address("192.0.2.8");

    (void)state;
    assert_true(put(links, "192.0.2.8", 0, 1));
    assert_false(put(links, "192.0.2.7", 0, 2));
    assert_true(put(links, "2001:db8::7", 0, 3));
    assert_int_equal(oche_links_next(links, OCHE_LINK_OUT), OCHE_MS);
    assert_int_equal(take(links, OCHE_MS - 1, NULL), -1);
    assert_int_equal(take(links, OCHE_MS, NULL), 1);
    assert_int_equal(take(links, 2 * OCHE_MS, NULL), 3);
    assert_true(oche_links_next(links, OCHE_LINK_OUT) == OCHE_NEVER);
    assert_int_equal(oche_links_lost(links, OCHE_LINK_OUT), 1);
    assert_int_equal(oche_links_lost(links, OCHE_LINK_IN), 0);
    assert_int_equal(oche_links_find(links, OCHE_LINK_IN, &other), OCHE_NO_LINK);
    oche_links_close(links);
}

static void steps_in_time(void **state)
{
    struct oche_links *links = open_links("at=1s,loss=1|at=2s,loss=0,delay=1ms", NULL);

    (void)state;
    assert_true(put(links, "192.0.2.8", 0, 1));
    assert_int_equal(take(links, 0, NULL), 1);
    assert_false(put(links, "192.0.2.8", OCHE_SEC, 2));
    assert_true(put(links, "192.0.2.8", 2 * OCHE_SEC, 3));
    assert_int_equal(take(links, 2 * OCHE_SEC, NULL), -1);
    assert_int_equal(take(links, 2 * OCHE_SEC + OCHE_MS, NULL), 3);
    oche_links_close(links);
}

/* A change ends by itself or by restore; what it does not name stays; steps go on below it. */
static void changes(void **state)
{
    struct oche_links *links = open_links("delay=1ms|at=3s,delay=5ms", NULL);
    const struct oche_address peer = address("192.0.2.7");
    struct oche_error error;

    (void)state;
    assert_true(oche_links_change(links, OCHE_LINK_OUT, NULL, "loss=1", 0, OCHE_SEC, &error));
    assert_false(put(links, "192.0.2.8", OCHE_SEC - 1, 1));
    assert_true(put(links, "192.0.2.8", OCHE_SEC, 2));
    assert_int_equal(take(links, OCHE_SEC + OCHE_MS, NULL), 2);
    /* one peer alone, with the delay that all have */
    assert_true(
        oche_links_change(links, OCHE_LINK_OUT, &peer, "spray=2", OCHE_SEC, OCHE_NEVER, &error));
    assert_true(
        oche_links_change(links, OCHE_LINK_OUT, &peer, "loss=1", OCHE_SEC, OCHE_NEVER, &error));
    assert_false(put(links, "192.0.2.7", 2 * OCHE_SEC, 3));
    assert_true(put(links, "192.0.2.8", 2 * OCHE_SEC, 4));
    assert_int_equal(take(links, 2 * OCHE_SEC + OCHE_MS, NULL), 4);
    oche_links_restore(links, 4 * OCHE_SEC);
    assert_true(put(links, "192.0.2.8", 4 * OCHE_SEC, 5));
    assert_int_equal(take(links, 4 * OCHE_SEC + 4 * OCHE_MS, NULL), -1); /* the second step */
    assert_int_equal(take(links, 4 * OCHE_SEC + 5 * OCHE_MS, NULL), 5);
    oche_links_close(links);
}

/* Without rules, links are made when they are needed; a wrong change changes nothing. */
static void changes_without_rules(void **state)
{
    struct oche_links *links = open_links(NULL, NULL);
    const struct oche_address peer = address("192.0.2.7");
    struct oche_error error;

    (void)state;
    assert_int_equal(oche_links_find(links, OCHE_LINK_OUT, &peer), OCHE_NO_LINK);
    assert_false(oche_links_change(links, OCHE_LINK_BOTH, NULL, "loss=2", 0, OCHE_NEVER, &error));
    assert_false(oche_links_change(links, OCHE_LINK_BOTH, NULL, "seed=2", 0, OCHE_NEVER, &error));
    assert_false(
        oche_links_change(links, OCHE_LINK_BOTH, NULL, "ecn=1KB..2KB", 0, OCHE_NEVER, &error));
    assert_int_equal(oche_links_find(links, OCHE_LINK_OUT, &peer), OCHE_NO_LINK);
    assert_true(oche_links_change(links, OCHE_LINK_BOTH, NULL, "rate=1Gbps,queue=1071B", 0,
                                  OCHE_NEVER, &error));
    /* a line's time begins when it is made, so these are later */
    assert_true(put(links, "192.0.2.7", OCHE_SEC, 2)); /* on the line */
    assert_true(put(links, "192.0.2.7", OCHE_SEC, 3)); /* waits */
    assert_false(put(links, "192.0.2.7", OCHE_SEC, 4));
    /* 1,090 bytes at 1 Gbit/s */
    assert_int_equal(take(links, OCHE_SEC + 8720 * OCHE_NS, NULL), 2);
    assert_int_equal(take(links, OCHE_SEC + 17440 * OCHE_NS, NULL), 3);
    oche_links_close(links);
}

/* Packets that wait at a slow line delay no others once the change is over; queues grow, too. */
static void rate_for_a_time(void **state)
{
    struct oche_links *links = open_links("rate=1Gbps,queue=1MB", NULL);
    struct oche_error error;

    (void)state;
    assert_true(oche_links_change(links, OCHE_LINK_OUT, NULL, "rate=1Mbps,queue=2140B", 0,
                                  2 * OCHE_SEC, &error));
    for (uint32_t i = 0; i < 3; i++) /* 8.72 ms each */
        assert_true(put(links, "192.0.2.7", OCHE_SEC, i));
    assert_false(put(links, "192.0.2.7", OCHE_SEC, 3));
    assert_true(
        oche_links_change(links, OCHE_LINK_OUT, NULL, "queue=1GB", OCHE_SEC, OCHE_NEVER, &error));
    for (uint32_t i = 10; i < 1000; i++) /* 8.6 s of the line */
        assert_true(put(links, "192.0.2.7", OCHE_SEC, i));
    assert_true(put(links, "192.0.2.7", 2 * OCHE_SEC, 4));
    assert_int_equal(take(links, OCHE_SEC + 10 * OCHE_MS, NULL), 0);
    for (int64_t got = 0; got != 4;)
        got = take(links, 2 * OCHE_SEC + 8720 * OCHE_NS, NULL);
    oche_links_close(links);
}

static void change(struct oche_links *links, const char *peer, const char *text, oche_time now)
{
    const struct oche_address of = peer != NULL ? address(peer) : (struct oche_address){.ip = {0}};
    struct oche_error error;

    if (!oche_links_change(links, OCHE_LINK_OUT, peer != NULL ? &of : NULL, text, now, OCHE_NEVER,
                           &error))
        fail_msg("%s: %s", text, error.text);
}

/* Marks that were set stay, though the rate is changed afterwards; without a rate there are none.
 */
static void marks_and_rates(void **state)
{
    struct oche_links *links = open_links(NULL, NULL);
    uint8_t tos = 0;

    (void)state;
    change(links, NULL, "rate=1Mbps", 0);
    change(links, NULL, "ecn=1B..1B", 0);
    change(links, NULL, "rate=2Mbps", 0);
    for (uint32_t i = 1; i <= 3; i++)
        assert_true(put(links, "192.0.2.7", OCHE_SEC, i));
    for (uint32_t i = 1; i <= 2; i++) /* nothing waits yet when the first one starts */
        while (take(links, oche_links_next(links, OCHE_LINK_OUT), &tos) < 0)
            continue;
    assert_int_equal(tos & 3, OCHE_ECN_CE);
    change(links, NULL, "rate=0", 2 * OCHE_SEC);
    oche_links_close(links);
}

/* Changes of other keys do not keep a link from going down. */
static void flap_goes_on(void **state)
{
    struct oche_links *links = open_links("flap=500ms/500ms", NULL);

    (void)state;
    for (unsigned i = 1; i < 9; i++)
        change(links, NULL, "delay=0", i * 100 * OCHE_MS);
    assert_false(put(links, "192.0.2.7", 800 * OCHE_MS, 1));
    assert_int_equal(oche_links_report(links).lost[OCHE_LINK_LOST_DOWN], 1);
    assert_int_equal(oche_links_report(links).seed, 1);
    change(links, NULL, "flap=500ms/400ms", 900 * OCHE_MS); /* this begins anew */
    assert_true(put(links, "192.0.2.7", 1300 * OCHE_MS, 2));
    oche_links_close(links);
}

/* A change for one peer that names no rate leaves it on the line of all; its own rate does not. */
static void line_of_all(void **state)
{
    struct oche_links *links = open_links("rate=1Mbps,queue=2200B", NULL);

    (void)state;
    change(links, "192.0.2.7", "loss=0", 0);
    for (uint32_t i = 0; i < 3; i++)
        assert_true(put(links, "192.0.2.8", OCHE_SEC, i));
    assert_false(put(links, "192.0.2.7", OCHE_SEC, 3));
    change(links, NULL, "queue=3300B", OCHE_SEC); /* one more has room behind those */
    assert_true(put(links, "192.0.2.7", OCHE_SEC, 4));
    assert_false(put(links, "192.0.2.7", OCHE_SEC, 5));
    assert_int_equal(take(links, OCHE_SEC + 35 * OCHE_MS, NULL), 0);
    change(links, "192.0.2.7", "rate=2Mbps", OCHE_SEC + 35 * OCHE_MS);
    assert_true(put(links, "192.0.2.7", OCHE_SEC + 35 * OCHE_MS, 6));
    oche_links_close(links);
}

/* Returns how many of 40 more peers get a link that loses everything. */
static unsigned peers_that_fit(struct oche_links *links, unsigned network, const char *text)
{
    struct oche_error error;
    unsigned fit = 0;

    for (unsigned i = 0; i < 40; i++) {
        char name[32];

        snprintf(name, sizeof(name), "198.51.%u.%u", network, i + 1);
        const struct oche_address peer = address(name);

        if (!oche_links_change(links, OCHE_LINK_OUT, &peer, text, 0, OCHE_NEVER, &error))
            continue;
        assert_false(put(links, name, 0, 1));
        fit++;
    }
    return fit;
}

/* Refused changes use up no room, and restored ones give it back; all peers always have room. */
static void room_for_peers(void **state)
{
    struct oche_links *links = open_links(NULL, NULL);
    const struct oche_address other = address("192.0.2.7"), peer = address("198.51.2.1");

    (void)state;
    assert_int_equal(peers_that_fit(links, 1, "los=1"), 0);
    assert_int_equal(peers_that_fit(links, 2, "loss=1"), 2 * OCHE_LINK_RULES);
    assert_int_equal(peers_that_fit(links, 3, "loss=1"), 0);
    assert_true(oche_links_cut(links, true));
    assert_false(put(links, "192.0.2.7", 0, 1));
    assert_true(oche_links_cut(links, false));
    assert_int_equal(oche_links_find(links, OCHE_LINK_OUT, &other), OCHE_NO_LINK);
    assert_int_not_equal(oche_links_find(links, OCHE_LINK_OUT, &peer), OCHE_NO_LINK);
    oche_links_restore(links, 0);
    assert_int_equal(oche_links_find(links, OCHE_LINK_OUT, &peer), OCHE_NO_LINK);
    const uint64_t lost = oche_links_lost(links, OCHE_LINK_OUT);

    assert_int_equal(peers_that_fit(links, 3, "loss=1"), 2 * OCHE_LINK_RULES);
    assert_int_equal(oche_links_lost(links, OCHE_LINK_OUT), lost + 2 * OCHE_LINK_RULES);
    oche_links_close(links);
}

/* Each change ends when it should, whatever comes after it; a later one with its keys replaces it.
 */
static void changes_on_top_of_each_other(void **state)
{
    struct oche_links *links = open_links(NULL, NULL);
    const struct oche_address peer = address("192.0.2.7");
    struct oche_error error;

    (void)state;
    assert_true(oche_links_change(links, OCHE_LINK_OUT, NULL, "loss=1", 0, OCHE_SEC, &error));
    assert_true(oche_links_change(links, OCHE_LINK_OUT, NULL, "delay=1ms", 0, OCHE_NEVER, &error));
    /* a peer has what all have, and more */
    assert_true(oche_links_change(links, OCHE_LINK_OUT, &peer, "spray=2", 0, OCHE_NEVER, &error));
    assert_false(put(links, "192.0.2.7", 0, 1));
    assert_false(put(links, "192.0.2.8", 0, 2));
    assert_true(put(links, "192.0.2.8", OCHE_SEC, 3)); /* the loss is over, the delay is not */
    assert_true(put(links, "192.0.2.7", OCHE_SEC, 4));
    assert_int_equal(take(links, OCHE_SEC, NULL), -1);
    assert_in_range(take(links, OCHE_SEC + 2 * OCHE_MS, NULL), 3, 4);
    assert_in_range(take(links, OCHE_SEC + 2 * OCHE_MS, NULL), 3, 4);
    /* a short change on top of a lasting one */
    assert_true(
        oche_links_change(links, OCHE_LINK_OUT, NULL, "delay=30s", OCHE_SEC, 2 * OCHE_SEC, &error));
    assert_true(put(links, "192.0.2.8", OCHE_SEC, 5));
    assert_true(put(links, "192.0.2.8", 2 * OCHE_SEC, 6)); /* overtakes the one before it */
    assert_int_equal(take(links, 2 * OCHE_SEC + OCHE_MS, NULL), 6);
    for (unsigned i = 0; i < 100; i++)
        assert_true(oche_links_change(links, OCHE_LINK_OUT, NULL, "loss=0", 2 * OCHE_SEC,
                                      OCHE_NEVER, &error));
    for (unsigned i = 0; i < 100; i++) /* those that end at another time are all kept */
        if (!oche_links_change(links, OCHE_LINK_OUT, NULL, "loss=1", 2 * OCHE_SEC, 3 * OCHE_SEC - i,
                               &error))
            break;
    assert_non_null(strstr(error.text, "in force already"));
    assert_false(put(links, "192.0.2.8", 3 * OCHE_SEC - 1, 7));
    assert_true(put(links, "192.0.2.8", 3 * OCHE_SEC, 8));
    oche_links_close(links);
}

static void check_list(struct oche_links *links, oche_time now, const char *expected)
{
    char text[1024];

    oche_links_list(links, now, text, sizeof(text));
    assert_string_equal(text, expected);
}

/* Faults in force, in the words of --link. Two directions that are alike are one entry. */
static void listing(void **state)
{
    struct oche_links *links = open_links("delay=50us|at=3s,loss=1%", NULL);
    const struct oche_address peer = address("2001:db8::7");
    struct oche_error error;

    (void)state;
    check_list(links, 0, "link out delay=50us");
    check_list(links, 3 * OCHE_SEC, "link out loss=0.01,delay=50us");
    assert_true(oche_links_change(links, OCHE_LINK_BOTH, &peer, "delay=50us,loss=1", 4 * OCHE_SEC,
                                  6 * OCHE_SEC, &error));
    check_list(links, 4 * OCHE_SEC + OCHE_SEC / 2,
               "link out loss=0.01,delay=50us; link [2001:db8::7]:loss=1,delay=50us (changed: "
               "delay=50us,loss=1 for 1.5 s more)");
    change(links, NULL, "loss=0,delay=0s", 6 * OCHE_SEC);
    check_list(links, 6 * OCHE_SEC, "link out loss=0 (changed: loss=0,delay=0s)");
    oche_links_restore(links, 7 * OCHE_SEC);
    check_list(links, 7 * OCHE_SEC, "link out loss=0.01,delay=50us");
    oche_links_close(links);
    links = open_links(NULL, NULL);
    check_list(links, 0, "");
    oche_links_close(links);
}

static void cut(void **state)
{
    struct oche_links *links = open_links("192.0.2.7:delay=0s", NULL);
    struct oche_error error;

    (void)state;
    assert_true(oche_links_cut(links, true));
    assert_false(put(links, "192.0.2.7", 0, 1));
    assert_false(put(links, "192.0.2.8", 0, 2));
    assert_true(oche_links_cut(links, false));
    assert_true(put(links, "192.0.2.7", 0, 5));
    assert_true(oche_links_cut(links, true));
    assert_int_equal(take(links, OCHE_SEC, NULL), -1); /* was on its way */
    assert_true(oche_links_change(links, OCHE_LINK_OUT, NULL, "loss=0", 0, OCHE_NEVER, &error));
    assert_false(put(links, "192.0.2.7", 0, 3)); /* whatever the links say */
    assert_true(oche_links_cut(links, false));
    assert_true(put(links, "192.0.2.7", 0, 4));
    oche_links_close(links);
}

static void duplicates_and_delays(void **state)
{
    struct oche_links *links = open_links("duplicate=1", NULL);
    struct oche_parcel *parcel;

    (void)state;
    assert_true(put(links, "192.0.2.7", 0, 7));
    parcel = oche_links_arrived(links, OCHE_LINK_OUT, 0);
    assert_non_null(parcel);
    oche_links_defer(links, parcel, OCHE_US); /* a full socket */
    assert_int_equal(take(links, 0, NULL), -1);
    assert_int_equal(take(links, OCHE_US, NULL), 7);
    assert_int_equal(take(links, OCHE_US, NULL), 7);
    assert_int_equal(take(links, OCHE_SEC, NULL), -1);
    oche_links_close(links);
}

/* With Kmin = Kmax a packet is marked if more than that waits behind it. */
static void marks(void **state)
{
    struct oche_links *links = open_links("rate=1Gbps,queue=1MB,ecn=3KB..3KB:pmax=1", NULL);
    uint8_t tos;

    (void)state;
    for (uint32_t i = 0; i < 6; i++)
        assert_true(put(links, "192.0.2.7", 0, i));
    for (uint32_t i = 0; i < 6; i++) {
        /* the device comes when something is due: when a packet starts, and when it arrives */
        while (take(links, oche_links_next(links, OCHE_LINK_OUT), &tos) < 0)
            continue;
        /* behind packet i wait 5 - i; the first one started before the others were there */
        assert_int_equal(tos & 3, i > 0 && (5 - i) * FRAME > 3000 ? OCHE_ECN_CE : OCHE_ECN_ECT0);
    }
    oche_links_close(links);
}

/* Two devices of one address have one line, and the last one removes its file. */
static void shared_line(void **state)
{
    struct oche_links *first, *second, *apart;
    char left[128];

    (void)state;
    first = open_links("rate=1Gbps,queue=1MB", path);
    second = open_links("rate=1Gbps,queue=1MB", path);
    apart = open_links("rate=2Gbps,queue=1MB", path); /* another line */
    for (uint32_t i = 0; i < 10; i++)
        assert_true(put(first, "192.0.2.7", OCHE_SEC, i));
    assert_true(put(second, "192.0.2.7", OCHE_SEC, 10));
    assert_true(put(apart, "192.0.2.7", OCHE_SEC, 11));
    assert_int_equal(oche_links_next(second, OCHE_LINK_OUT), OCHE_SEC + 11 * 8720 * OCHE_NS);
    assert_int_equal(oche_links_next(apart, OCHE_LINK_OUT), OCHE_SEC + 4360 * OCHE_NS);
    snprintf(left, sizeof(left), "echo x > %s/link-of-a-killed-one", folder);
    assert_int_equal(system(left), 0);
    oche_links_close(first); /* the line stays */
    first = open_links("rate=1Gbps,queue=1MB", path);
    assert_true(put(first, "192.0.2.7", OCHE_SEC, 12));
    assert_int_equal(oche_links_next(first, OCHE_LINK_OUT), OCHE_SEC + 12 * 8720 * OCHE_NS);
    oche_links_close(first);
    oche_links_close(second);
    oche_links_close(apart);
    snprintf(left, sizeof(left), "ls -A %s | grep -q .", folder);
    assert_int_not_equal(system(left), 0);            /* nothing is left */
    first = open_links("rate=1Gbps,queue=1MB", path); /* a new line, and empty */
    assert_true(put(first, "192.0.2.7", OCHE_SEC, 13));
    assert_int_equal(oche_links_next(first, OCHE_LINK_OUT), OCHE_SEC + 8720 * OCHE_NS);
    oche_links_close(first);
}

/* The file cannot be made: the device has a line of its own. */
static void no_file(void **state)
{
    struct oche_links *links = open_links("rate=1Gbps,queue=1MB", "/nowhere/at/all/link");

    (void)state;
    assert_true(put(links, "192.0.2.7", 0, 1));
    oche_links_close(links);
}

/* Packets on their way have an end: more are lost, and nothing is written elsewhere. */
static void too_many_packets(void **state)
{
    struct oche_links *links = open_links("delay=1s", NULL);
    uint32_t sent = 0;

    (void)state;
    while (put(links, "192.0.2.7", 0, sent))
        sent++;
    assert_true(sent >= 10000);
    assert_int_equal(oche_links_lost(links, OCHE_LINK_OUT), 1);
    for (uint32_t i = 0; i < sent; i++)
        assert_int_equal(take(links, OCHE_SEC, NULL), i);
    assert_true(put(links, "192.0.2.7", OCHE_SEC, 0));
    assert_true(oche_links_last(links) == 2 * OCHE_SEC);
    oche_links_close(links);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(marks_and_rates),
        cmocka_unit_test(flap_goes_on),
        cmocka_unit_test(line_of_all),
        cmocka_unit_test(rate_for_a_time),
        cmocka_unit_test(rules_by_peer),
        cmocka_unit_test(steps_in_time),
        cmocka_unit_test(changes),
        cmocka_unit_test(changes_without_rules),
        cmocka_unit_test(room_for_peers),
        cmocka_unit_test(changes_on_top_of_each_other),
        cmocka_unit_test(listing),
        cmocka_unit_test(cut),
        cmocka_unit_test(duplicates_and_delays),
        cmocka_unit_test(marks),
        cmocka_unit_test_setup_teardown(shared_line, make_folder, remove_folder),
        cmocka_unit_test(no_file),
        cmocka_unit_test(too_many_packets),
    };

    oche_clock_start(&clock_of_device);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
