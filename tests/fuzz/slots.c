/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libFuzzer target: any messages, with any descriptors, from processes of our user that have slots
 * of our address, while packets are passed on to them. What comes out must be packets within the
 * message, no descriptor may be left open, and what is held must be counted. tools/fuzz 60 slots
 * runs it.
 *
 * A message is the last one that the process has heard from us, with some bytes changed and some
 * added; so this file does not know its layout.
 */
#include <fcntl.h>
#include <sys/socket.h>

#include "device/shared/sharing.h"
#include "tests/fuzz/input.h"
#include "tests/fuzz/target.h"

#define PORT       4791
#define OTHERS     2
#define MOST_STEPS 64
#define MOST_HEARD 4096
#define MOST_ADDED 3000

/* A process that has a slot. */
struct other {
    int fd;
    struct oche_names names;
    uint8_t heard[MOST_HEARD];
    size_t count; /* bytes of the last message; 0: none yet */
};

static struct other others[OTHERS];
static struct oche_sharing share;
static oche_time now;

static bool fill(void *context, void *bytes, size_t count)
{
    static uint8_t next = 1;

    (void)context;
    memset(bytes, next++ | 1, count);
    return true;
}

static void own_address(struct oche_address *address)
{
    const pid_t own = getpid();
    char text[32];

    snprintf(text, sizeof(text), "127.253.%u.%u", (unsigned)own >> 8 & 0xff, (unsigned)own & 0xff);
    if (!oche_address_parse(text, address))
        abort();
}

static void close_others(void)
{
    for (unsigned i = 0; i < OTHERS; i++)
        oche_names_close(&others[i].names);
}

/* The others take slots 0 and 1, and inboxes. */
static void open_others(const struct oche_address *address)
{
    struct oche_error error;

    for (unsigned i = 0; i < OTHERS; i++) {
        others[i].fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
        if (oche_names_open(&others[i].names, address, PORT, others[i].fd, &error) !=
            OCHE_NAMES_TAKEN)
            exit(2);
    }
    atexit(close_others);
}

static void receive_message(struct other *other)
{
    uint8_t bytes[MOST_HEARD];
    ssize_t count;

    while ((count = recv(other->fd, bytes, sizeof(bytes), MSG_DONTWAIT)) >= 0)
        if (count > 0) {
            memcpy(other->heard, bytes, (size_t)count);
            other->count = (size_t)count;
        }
}

/* A descriptor as another process may send it: a table of senders, or something like it; or -1. */
static int make_descriptor(struct fuzz_input *input)
{
    const uint8_t kind = fuzz_byte(input), byte = fuzz_byte(input);
    const off_t size = lseek(share.senders.fd, 0, SEEK_END) - (kind == 3);
    uint8_t content[64];
    int fd;

    if (kind == 0 || kind > 5 || share.senders.fd < 0)
        return -1;
    if (kind == 5)
        return socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    fd = memfd_create("table", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    memset(content, byte, sizeof(content));
    if (fd < 0 || ftruncate(fd, size) != 0 ||
        pwrite(fd, content, byte % sizeof(content), byte % 32) < 0)
        abort();
    if (kind != 4)
        fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL);
    return fd;
}

static void send_message(struct other *other, struct fuzz_input *input)
{
    const uint8_t patches = fuzz_byte(input);
    static uint8_t message[MOST_HEARD + MOST_ADDED];
    struct sockaddr_un name;
    union {
        struct cmsghdr align;
        uint8_t bytes[CMSG_SPACE(sizeof(int))];
    } control = {.bytes = {0}};
    struct iovec piece = {.iov_base = message};
    struct msghdr header = {.msg_iov = &piece, .msg_iovlen = 1, .msg_name = &name};
    int fd;

    receive_message(other);
    memcpy(message, other->heard, other->count);
    for (unsigned i = 0; i < patches % 8u; i++) {
        const size_t at = fuzz_byte(input);

        message[at] = fuzz_byte(input);
    }
    piece.iov_len = other->count + fuzz_number(input, 2) % MOST_ADDED;
    memset(message + other->count, patches, piece.iov_len - other->count);
    piece.iov_len -= patches >= 128 && piece.iov_len > patches ? patches : 0;
    fd = make_descriptor(input);
    if (fd >= 0) {
        const struct cmsghdr head = {
            .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS, .cmsg_len = CMSG_LEN(sizeof(fd))};

        memcpy(control.bytes, &head, sizeof(head));
        memcpy(control.bytes + CMSG_LEN(0), &fd, sizeof(fd));
        header.msg_control = &control;
        header.msg_controllen = sizeof(control);
    }
    header.msg_namelen = oche_names_inbox(&share.names, share.slot, &name);
    sendmsg(other->fd, &header, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (fd >= 0)
        close(fd);
}

/* Takes the received packets, as a device does. */
static const char *receive(void)
{
    struct oche_datagram_in in;

    while (oche_sharing_receive(&share, &in, now)) {
        uint32_t sum = 0;

        if (in.count == 0 || in.segment_bytes == 0 || !in.passed_on || in.truncated)
            return "no packets, or not passed on";
        for (uint32_t i = 0; i < in.count; i++)
            sum += in.bytes[i];
        if (sum == 1)
            now++;
    }
    return NULL;
}

static void forward(struct fuzz_input *input, bool management)
{
    uint8_t packets[512] = {0};
    const uint8_t slot = fuzz_byte(input);
    const struct oche_datagram_in in = {.bytes = packets,
                                        .count = 20 + fuzz_byte(input),
                                        .segment_bytes = 1 + fuzz_byte(input),
                                        .from = share.address,
                                        .from_port = PORT};

    packets[OCHE_SLOT_OFFSET] = (uint8_t)(slot << (8 - OCHE_SLOT_BITS));
    if (!oche_sharing_is_foreign(&share, packets, in.count))
        return;
    if (management)
        oche_sharing_forward_to(&share, slot % OCHE_SLOTS, &in, packets, in.count, now);
    else
        oche_sharing_forward(&share, &in, packets, in.count, now);
}

/* A probe for our place in the kernel's list comes, one of ours or another one. */
static void probe(struct fuzz_input *input)
{
    uint8_t bytes[24] = {[OCHE_OPCODE_OFFSET] = OCHE_PROBE_OPCODE};
    const struct oche_datagram_in in = {
        .bytes = bytes, .count = sizeof(bytes), .from = share.address, .from_port = PORT};
    const uint8_t what = fuzz_byte(input);

    bytes[OCHE_PLACE_OFFSET] = what % 64;
    memcpy(bytes + OCHE_STEERED_BYTES, &share.nonce, sizeof(share.nonce));
    bytes[OCHE_STEERED_BYTES] ^= what >= 192;
    oche_sharing_take_probe(&share, &in);
}

static void count_senders(struct fuzz_input *input)
{
    struct oche_sender_view *views[OCHE_SLOTS];
    const uint64_t own[] = {fuzz_number(input, 2) | 1, 7};
    unsigned count = 0;

    oche_sender_table_publish(&share.senders, own, (uint32_t)(own[0] % 3));
    oche_sender_table_set_bytes(&share.senders, own[0]);

    for (unsigned slot = 0; slot < OCHE_SLOTS; slot++)
        if (share.neighbours[slot].view.table != NULL) {
            views[count++] = &share.neighbours[slot].view;
            oche_sender_view_update(&share.senders, views[count - 1], now, 1000);
        }
    oche_sender_table_count_others(&share.senders, views, count);
}

static void step(struct fuzz_input *input)
{
    const uint8_t what = fuzz_byte(input);

    switch (what % 8) {
    case 0:
    case 1:
        forward(input, what % 8 == 1);
        break;
    case 2:
        oche_sharing_retry_queued(&share);
        break;
    case 3:
        oche_sharing_drop_dead(&share);
        break;
    case 4:
        if (what >= 128)
            probe(input);
        else
            now += fuzz_byte(input) * OCHE_MS;
        break;
    case 5:
        count_senders(input);
        break;
    default:
        send_message(&others[what % 2], input);
        break;
    }
}

static const char *check(void)
{
    uint32_t count = 0;

    for (unsigned slot = 0; slot < OCHE_SLOTS; slot++) {
        const struct oche_neighbour *one = &share.neighbours[slot];

        if (one->place >= OCHE_SLOTS && one->place != OCHE_PLACE_NONE)
            return "a neighbour at no place";
        if (one->trusted && one->fd < 0)
            return "a neighbour that is not there is trusted";
        count += one->queued;
    }
    if (oche_sharing_settled(&share) && share.place == OCHE_PLACE_NONE)
        return "settled without a place";
    return count == share.queued_count ? NULL
                                       : "what is held for processes is not all that is held";
}

/* Returns the lowest descriptor that is free. */
static int lowest(void)
{
    const int fd = dup(others[0].fd);

    close(fd);
    return fd;
}

const char *fuzz_input(const uint8_t *bytes, size_t count)
{
    struct fuzz_input input = {bytes, count};
    struct oche_entropy entropy;
    struct oche_error error;
    struct oche_address address;
    const char *wrong = NULL;
    int before;

    own_address(&address);
    oche_entropy_init(&entropy, fill, NULL);
    if (others[0].fd == 0)
        open_others(&address);
    before = lowest();
    if (oche_sharing_open(&share, &address, PORT, &entropy, &error) != OCHE_SHARING_OPEN)
        exit(2);
    now = OCHE_SEC;
    if (!oche_sender_table_open(&share.senders) || !oche_sharing_join(&share, -1, now))
        exit(2);
    for (unsigned i = 0; i < MOST_STEPS && input.left > 0 && wrong == NULL; i++) {
        step(&input);
        wrong = receive();
        if (wrong == NULL)
            wrong = check();
    }
    oche_sharing_close(&share);
    for (unsigned i = 0; i < OTHERS; i++)
        receive_message(&others[i]);
    return wrong != NULL || lowest() == before ? wrong : "a descriptor is left open";
}
