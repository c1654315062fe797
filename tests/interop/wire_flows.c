/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The flows of Dart's testbed (ToN 2020, Fig 8): a receiver, a sender that writes all the time, and
 * one that writes bursts. A verbs program like any other; tests/interop/dasr.py runs it.
 *     wire_flows receive ADDRESS SENDERS           ends when they have
 *     wire_flows long ADDRESS SECONDS
 *     wire_flows short ADDRESS BURSTS MESSAGES PERIOD_MS BYTES
 * Messages are RDMA WRITEs of BYTES, or of 64 KB, up to 16 outstanding. Senders print how many they
 * wrote.
 */
#include <rdma/rdma_cma.h>
#include <rdma/rdma_verbs.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define PORT        "18517"
#define MESSAGE     65536
#define OUTSTANDING 16
#define SECOND      UINT64_C(1000000000)

/* Data that a receiver sends to each sender. */
struct where {
    uint64_t address;
    uint32_t key;
};

static uint8_t memory[MESSAGE];

static void give_up(const char *what)
{
    perror(what);
    exit(1);
}

static uint64_t now_ns(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * SECOND + (uint64_t)time.tv_nsec;
}

static void sleep_until(uint64_t ns)
{
    const struct timespec time = {.tv_sec = (time_t)(ns / SECOND), .tv_nsec = (long)(ns % SECOND)};

    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, NULL) != 0)
        continue;
}

static struct rdma_cm_id *make_end(const char *address, bool passive)
{
    struct rdma_addrinfo hints = {.ai_port_space = RDMA_PS_TCP}, *info;
    struct ibv_qp_init_attr attr = {
        .cap = {.max_send_wr = OUTSTANDING, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1},
        .sq_sig_all = 1};
    struct rdma_cm_id *id;

    hints.ai_flags = passive ? RAI_PASSIVE : 0;
    if (rdma_getaddrinfo(address, PORT, &hints, &info) != 0)
        give_up("rdma_getaddrinfo");
    if (rdma_create_ep(&id, info, NULL, &attr) != 0)
        give_up("rdma_create_ep");
    rdma_freeaddrinfo(info);
    return id;
}

static void receive(const char *address, int senders)
{
    struct rdma_cm_id *listener = make_end(address, true), *ids[8];
    struct rdma_cm_event *event;

    if (senders > 8 || rdma_listen(listener, 8) != 0)
        give_up("rdma_listen");
    puts("ready");
    fflush(stdout);
    for (int i = 0; i < senders; i++) {
        struct ibv_mr *mr;
        struct where where;
        struct rdma_conn_param param = {
            .private_data = &where, .private_data_len = sizeof(where), .responder_resources = 1};

        if (rdma_get_request(listener, &ids[i]) != 0)
            give_up("rdma_get_request");
        mr = rdma_reg_write(ids[i], memory, sizeof(memory));
        if (mr == NULL)
            give_up("rdma_reg_write");
        where = (struct where){.address = (uint64_t)(uintptr_t)memory, .key = mr->rkey};
        if (rdma_accept(ids[i], &param) != 0)
            give_up("rdma_accept");
    }
    for (int i = 0; i < senders; i++) { /* each disconnects when it is done */
        while (rdma_get_cm_event(ids[i]->channel, &event) == 0) {
            const bool over = event->event == RDMA_CM_EVENT_DISCONNECTED;
            rdma_ack_cm_event(event);
            if (over)
                break;
        }
    }
}

struct sender {
    struct rdma_cm_id *id;
    struct where to;
    struct ibv_mr *mr;
    unsigned outstanding;
    uint64_t written;
};

static void connect_sender(struct sender *sender, const char *address)
{
    struct rdma_conn_param param = {.initiator_depth = 1, .retry_count = 7, .rnr_retry_count = 7};

    *sender = (struct sender){.id = make_end(address, false)};
    if (rdma_connect(sender->id, &param) != 0)
        give_up("rdma_connect");
    memcpy(&sender->to, sender->id->event->param.conn.private_data, sizeof(sender->to));
    sender->mr = rdma_reg_msgs(sender->id, memory, sizeof(memory));
    if (sender->mr == NULL)
        give_up("rdma_reg_msgs");
}

/* Waits for one of the outstanding messages. */
static void complete(struct sender *sender)
{
    struct ibv_wc wc;
    int count;

    while ((count = ibv_poll_cq(sender->id->send_cq, 1, &wc)) == 0)
        continue;
    if (count < 0 || wc.status != IBV_WC_SUCCESS) {
        fprintf(stderr, "a WRITE failed: %s\n", count < 0 ? "poll" : ibv_wc_status_str(wc.status));
        exit(1);
    }
    sender->outstanding--;
    sender->written++;
}

static void write_one(struct sender *sender, size_t bytes)
{
    if (sender->outstanding == OUTSTANDING)
        complete(sender);
    if (rdma_post_write(sender->id, NULL, memory, bytes, sender->mr, 0, sender->to.address,
                        sender->to.key) != 0)
        give_up("rdma_post_write");
    sender->outstanding++;
}

static void end_sender(struct sender *sender)
{
    while (sender->outstanding > 0)
        complete(sender);
    printf("written %lu\n", (unsigned long)sender->written);
    rdma_disconnect(sender->id);
}

static void send_long(const char *address, unsigned seconds)
{
    struct sender sender;

    connect_sender(&sender, address);
    for (const uint64_t end = now_ns() + seconds * SECOND; now_ns() < end;)
        write_one(&sender, MESSAGE);
    end_sender(&sender);
}

static void send_short(const char *address, unsigned bursts, unsigned messages, unsigned period_ms,
                       size_t bytes)
{
    struct sender sender;
    uint64_t start;

    connect_sender(&sender, address);
    start = now_ns() + SECOND;
    for (unsigned i = 0; i < bursts; i++) {
        sleep_until(start + (uint64_t)i * period_ms * 1000000);
        for (unsigned k = 0; k < messages; k++)
            write_one(&sender, bytes);
        while (sender.outstanding > 0)
            complete(&sender);
    }
    end_sender(&sender);
}

int main(int argc, char **argv)
{
    unsigned numbers[4] = {0};

    for (int i = 3; i < argc && i < 7; i++)
        numbers[i - 3] = (unsigned)strtoul(argv[i], NULL, 10);
    if (argc == 4 && strcmp(argv[1], "receive") == 0)
        receive(argv[2], (int)numbers[0]);
    else if (argc == 4 && strcmp(argv[1], "long") == 0)
        send_long(argv[2], numbers[0]);
    else if (argc == 7 && numbers[3] <= MESSAGE && strcmp(argv[1], "short") == 0)
        send_short(argv[2], numbers[0], numbers[1], numbers[2], numbers[3]);
    else
        return 2;
    return 0;
}
