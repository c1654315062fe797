/* SPDX-License-Identifier: Apache-2.0 */
/*
 * For rdma_cm.py: librpma, remote persistent memory over rdma_cm, on this project's libraries. The
 * memory is ordinary, so what librpma calls persistence is not tested, but its verbs are.
 *
 *     rpma server ADDRESS PORT    gives its memory to one client, and looks at what that has
 * written rpma client ADDRESS PORT    writes, flushes, reads back and compares, in sizes up to 1
 * MiB
 *
 * The connection's private data says where the memory is; a message ends the work.
 */
#include <librpma.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST (1u << 20)
#define ALL_USES                                                                                   \
    (RPMA_MR_USAGE_READ_SRC | RPMA_MR_USAGE_READ_DST | RPMA_MR_USAGE_WRITE_SRC |                   \
     RPMA_MR_USAGE_WRITE_DST | RPMA_MR_USAGE_FLUSH_TYPE_VISIBILITY | RPMA_MR_USAGE_SEND |          \
     RPMA_MR_USAGE_RECV)
#define SIGNALED RPMA_F_COMPLETION_ALWAYS
#define DONE     "written"

static const size_t sizes[] = {1, 100, 4096, 4097, 65536, MOST};
#define SIZES (sizeof(sizes) / sizeof(sizes[0]))

static uint8_t memory[2 * MOST], word[64];

static void must(int result, const char *what)
{
    if (result == 0)
        return;
    fprintf(stderr, "rpma: %s: %s\n", what, rpma_err_2str(result));
    exit(1);
}

static void expect(bool right, const char *what)
{
    if (right)
        return;
    fprintf(stderr, "rpma: %s\n", what);
    exit(1);
}

static void fill(uint8_t *bytes, size_t count, size_t seed)
{
    for (size_t i = 0; i < count; i++)
        bytes[i] = (uint8_t)((i + seed) % 251);
}

static struct rpma_peer *peer_of(const char *address, enum rpma_util_ibv_context_type type)
{
    struct ibv_context *device;
    struct rpma_peer *peer;

    must(rpma_utils_get_ibv_context(address, type, &device), "device");
    must(rpma_peer_new(device, &peer), "peer");
    return peer;
}

static void expect_event(struct rpma_conn *connection, enum rpma_conn_event wanted)
{
    enum rpma_conn_event event;

    must(rpma_conn_next_event(connection, &event), "event");
    expect(event == wanted, rpma_utils_conn_event_2str(event));
}

static void complete(struct rpma_conn *connection, enum ibv_wc_opcode wanted)
{
    struct rpma_cq *cq;
    struct ibv_wc wc;

    must(rpma_conn_get_cq(connection, &cq), "completion queue");
    must(rpma_cq_wait(cq), "wait");
    must(rpma_cq_get_wc(cq, 1, &wc, NULL), "completion");
    expect(wc.status == IBV_WC_SUCCESS, ibv_wc_status_str(wc.status));
    expect(wc.opcode == wanted, "the completion is another operation's");
}

static void serve(const char *address, const char *port)
{
    struct rpma_peer *peer = peer_of(address, RPMA_UTIL_IBV_CONTEXT_LOCAL);
    struct rpma_conn_private_data where;
    struct rpma_mr_local *all, *words;
    struct rpma_conn_req *request;
    struct rpma_conn *connection;
    struct rpma_ep *listener;
    uint8_t descriptor[256];
    size_t length;

    must(rpma_mr_reg(peer, memory, sizeof(memory), ALL_USES, &all), "memory");
    must(rpma_mr_reg(peer, word, sizeof(word), RPMA_MR_USAGE_RECV, &words), "memory");
    must(rpma_mr_get_descriptor_size(all, &length), "descriptor");
    expect(length <= sizeof(descriptor), "the descriptor is too long");
    must(rpma_mr_get_descriptor(all, descriptor), "descriptor");
    where = (struct rpma_conn_private_data){.ptr = descriptor, .len = (uint8_t)length};

    must(rpma_ep_listen(peer, address, port, &listener), "listen");
    must(rpma_ep_next_conn_req(listener, NULL, &request), "request");
    must(rpma_conn_req_recv(request, words, 0, sizeof(word), NULL), "receive");
    must(rpma_conn_req_connect(&request, &where, &connection), "accept");
    expect_event(connection, RPMA_CONN_ESTABLISHED);
    complete(connection, IBV_WC_RECV);
    expect(strcmp((char *)word, DONE) == 0, "another message");
    fill(memory + MOST, MOST, SIZES - 1);
    memcpy(memory + MOST, "12345678", 8);
    expect(memcmp(memory, memory + MOST, MOST) == 0, "wrong data was written");
    expect_event(connection, RPMA_CONN_CLOSED);
    must(rpma_conn_disconnect(connection), "disconnect");
    must(rpma_conn_delete(&connection), "the connection's end");
    must(rpma_ep_shutdown(&listener), "the listener's end");
    must(rpma_mr_dereg(&words), "memory");
    must(rpma_mr_dereg(&all), "memory");
    must(rpma_peer_delete(&peer), "the peer's end");
}

static void write_and_read(struct rpma_conn *connection, struct rpma_mr_remote *theirs,
                           struct rpma_mr_local *ours)
{
    for (size_t i = 0; i < SIZES; i++) {
        fill(memory, sizes[i], i);
        memset(memory + MOST, 0, sizes[i]);
        must(rpma_write(connection, theirs, 0, ours, 0, sizes[i], SIGNALED, NULL), "write");
        complete(connection, IBV_WC_RDMA_WRITE);
        must(
            rpma_flush(connection, theirs, 0, sizes[i], RPMA_FLUSH_TYPE_VISIBILITY, SIGNALED, NULL),
            "flush");
        complete(connection, IBV_WC_RDMA_READ);
        must(rpma_read(connection, ours, MOST, theirs, 0, sizes[i], SIGNALED, NULL), "read");
        complete(connection, IBV_WC_RDMA_READ);
        expect(memcmp(memory, memory + MOST, sizes[i]) == 0, "wrong data was read back");
    }
    must(rpma_atomic_write(connection, theirs, 0, "12345678", SIGNALED, NULL), "atomic write");
    complete(connection, IBV_WC_RDMA_WRITE);
}

static void call(const char *address, const char *port)
{
    struct rpma_peer *peer = peer_of(address, RPMA_UTIL_IBV_CONTEXT_REMOTE);
    struct rpma_conn_private_data where;
    struct rpma_mr_local *all, *words;
    struct rpma_mr_remote *theirs;
    struct rpma_conn_req *request;
    struct rpma_conn *connection;

    must(rpma_mr_reg(peer, memory, sizeof(memory), ALL_USES, &all), "memory");
    must(rpma_mr_reg(peer, word, sizeof(word), RPMA_MR_USAGE_SEND, &words), "memory");
    must(rpma_conn_req_new(peer, address, port, NULL, &request), "request");
    must(rpma_conn_req_connect(&request, NULL, &connection), "connect");
    expect_event(connection, RPMA_CONN_ESTABLISHED);
    must(rpma_conn_get_private_data(connection, &where), "private data");
    must(rpma_mr_remote_from_descriptor(where.ptr, where.len, &theirs), "descriptor");
    write_and_read(connection, theirs, all);
    memcpy(word, DONE, sizeof(DONE));
    must(rpma_send(connection, words, 0, sizeof(DONE), SIGNALED, NULL), "send");
    complete(connection, IBV_WC_SEND);
    must(rpma_conn_disconnect(connection), "disconnect");
    expect_event(connection, RPMA_CONN_CLOSED);
    must(rpma_mr_remote_delete(&theirs), "descriptor");
    must(rpma_conn_delete(&connection), "the connection's end");
    must(rpma_mr_dereg(&words), "memory");
    must(rpma_mr_dereg(&all), "memory");
    must(rpma_peer_delete(&peer), "the peer's end");
    printf("data right, %zu sizes\n", SIZES);
}

int main(int count, char **arguments)
{
    if (count != 4) {
        fprintf(stderr, "usage: rpma server|client ADDRESS PORT\n");
        return 2;
    }
    if (strcmp(arguments[1], "server") == 0)
        serve(arguments[2], arguments[3]);
    else
        call(arguments[2], arguments[3]);
    return 0;
}
