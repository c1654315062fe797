/* SPDX-License-Identifier: Apache-2.0 */
/* Slots, neighbours, and passing packets on. */
#include "device/shared/sharing.h"
#include "params/error.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAGIC       UINT32_C(0x6f636865)
#define VERSION     2
#define PROBE_BYTES 24
/* time between two probes, and between two greetings of one slot */
#define PAUSE        (5 * OCHE_MS)
#define RESTORING    (2 * OCHE_SEC) /* until all processes have restored their names */
#define FIRST_PLACES 8              /* places to probe in addition to one per known neighbour */
#define MOST_QUEUED  (4u << 20)     /* bytes held for full queues before packets are lost */
/*
 * Most packets of the connection manager that wait for one process. Anybody can send these, and
 * honest senders repeat them; they must not take the room of others.
 */
#define MOST_MANAGEMENT 64
#define MESSAGES        64 /* most messages in a row: a flood must not block other work */

enum kind {
    KIND_HELLO,      /* I am here, at this place; answer with this nonce */
    KIND_ANSWER,     /* I am here too, and this was your nonce */
    KIND_GOODBYE,    /* my socket is closed, so places have changed */
    KIND_PACKETS,    /* packets for you follow */
    KIND_MANAGEMENT, /* packets of a connection manager, which the kernel cannot steer */
    KIND_TABLE,      /* the descriptor is that of my table of senders */
};

/* A message between processes of one machine, in the processor's byte order. */
struct message {
    uint32_t magic;
    uint8_t version, kind, slot, place;
    uint64_t nonce;
    /* Only for KIND_PACKETS: */
    struct oche_address from;
    uint32_t segment_bytes;
    uint16_t from_port;
    uint8_t tos, unused;
};

/* Packets for a process whose queue is full (net.unix.max_dgram_qlen is often 10). */
struct oche_queued {
    struct oche_queued *next;
    uint32_t count, packets;
    uint8_t slot;
    struct message message;
    uint8_t bytes[];
};

#define MEMORY_BYTES (sizeof(struct message) + 65536)

/* The sender of a message, and a descriptor. */
union control {
    struct cmsghdr align;
    uint8_t bytes[CMSG_SPACE(sizeof(struct ucred)) + CMSG_SPACE(sizeof(int))];
};

static int unix_socket(void)
{
    return socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
}

/* ---- messages out ---- */

static struct message message_of(const struct oche_sharing *share, enum kind kind, uint64_t nonce)
{
    return (struct message){.magic = MAGIC,
                            .version = VERSION,
                            .kind = (uint8_t)kind,
                            .slot = share->slot,
                            .place = share->place,
                            .nonce = nonce};
}

static void disconnect(struct oche_neighbour *neighbour)
{
    if (neighbour->fd >= 0)
        close(neighbour->fd);
    neighbour->fd = -1;
    neighbour->trusted = neighbour->table_sent = false;
    neighbour->place = OCHE_PLACE_NONE;
    oche_sender_view_close(&neighbour->view);
}

/* Adds a control message of `bytes` bytes to the header, whose buffer is `control`. */
static void add_control(struct msghdr *header, union control *control, int type, const void *what,
                        size_t bytes)
{
    const struct cmsghdr head = {
        .cmsg_level = SOL_SOCKET, .cmsg_type = type, .cmsg_len = CMSG_LEN(bytes)};
    uint8_t *at = control->bytes + header->msg_controllen;

    memset(at, 0, CMSG_SPACE(bytes));
    memcpy(at, &head, sizeof(head));
    memcpy(at + CMSG_LEN(0), what, bytes);
    header->msg_control = control;
    header->msg_controllen += CMSG_SPACE(bytes);
}

/*
 * Makes the kernel tell the receiver our effective user, which owns the names, instead of the real
 * one. Adds a descriptor, unless it is -1.
 */
static void add_controls(struct msghdr *header, union control *control, int fd)
{
    const struct ucred own = {.pid = getpid(), .uid = geteuid(), .gid = getegid()};

    if (own.uid != getuid())
        add_control(header, control, SCM_CREDENTIALS, &own, sizeof(own));
    if (fd >= 0)
        add_control(header, control, SCM_RIGHTS, &fd, sizeof(fd));
}

/* Sends a message. Returns false on failure. Disconnects from a process that has ended. */
static bool send_with_descriptor(struct oche_neighbour *neighbour, struct message *message,
                                 const void *packets, uint32_t count, int fd)
{
    union control control;
    struct iovec pieces[2] = {{.iov_base = message, .iov_len = sizeof(*message)},
                              {.iov_base = (void *)(uintptr_t)packets, .iov_len = count}};
    struct msghdr header = {.msg_iov = pieces, .msg_iovlen = count > 0 ? 2 : 1};

    if (neighbour->fd < 0)
        return false;
    add_controls(&header, &control, fd);
    if (sendmsg(neighbour->fd, &header, MSG_DONTWAIT | MSG_NOSIGNAL) >= 0)
        return true;
    if (errno == ECONNREFUSED || errno == ENOTCONN || errno == ECONNRESET)
        disconnect(neighbour);
    return false;
}

static bool send_message(struct oche_neighbour *neighbour, struct message *message,
                         const void *packets, uint32_t count)
{
    return send_with_descriptor(neighbour, message, packets, count, -1);
}

static bool send_hello(const struct oche_sharing *share, struct oche_neighbour *neighbour)
{
    struct message hello = message_of(share, KIND_HELLO, neighbour->nonce);

    return send_message(neighbour, &hello, NULL, 0);
}

/* Sends a process our table of senders, if it is trusted and does not have it. */
static void send_table(const struct oche_sharing *share, struct oche_neighbour *neighbour)
{
    struct message table = message_of(share, KIND_TABLE, 0);

    if (neighbour->trusted && !neighbour->table_sent && share->senders.fd >= 0)
        neighbour->table_sent = send_with_descriptor(neighbour, &table, NULL, 0, share->senders.fd);
}

/*
 * Connects to the process that has the slot and asks it to identify itself. Returns false if there
 * is none.
 */
static bool connect_to(struct oche_sharing *share, unsigned slot)
{
    struct oche_neighbour *neighbour = &share->neighbours[slot];
    struct sockaddr_un inbox;
    const socklen_t inbox_bytes = oche_names_inbox(&share->names, slot, &inbox);

    disconnect(neighbour);
    neighbour->fd = unix_socket();
    if (neighbour->fd < 0)
        return false;
    if (connect(neighbour->fd, (struct sockaddr *)&inbox, inbox_bytes) != 0) {
        disconnect(neighbour);
        return false;
    }
    neighbour->nonce = oche_entropy_u64(share->entropy);
    send_hello(share, neighbour);
    return neighbour->fd >= 0;
}

/* ---- places ---- */

/* True if we know our own place and those of all neighbours. */
static bool all_known(const struct oche_sharing *share)
{
    for (unsigned slot = 0; slot < OCHE_SLOTS; slot++)
        if (share->neighbours[slot].fd >= 0 && share->neighbours[slot].place == OCHE_PLACE_NONE)
            return false;
    return share->place != OCHE_PLACE_NONE;
}

bool oche_sharing_settled(const struct oche_sharing *share)
{
    for (unsigned slot = 0; slot < OCHE_SLOTS; slot++)
        if (share->neighbours[slot].fd >= 0 && !share->neighbours[slot].trusted)
            return false;
    return share->place != OCHE_PLACE_NONE;
}

/* Returns how many other processes have a slot. */
static unsigned count_others(const struct oche_sharing *share)
{
    unsigned others = 0;

    for (unsigned slot = 0; slot < OCHE_SLOTS; slot++)
        others += slot != share->slot && oche_names_slot_taken(&share->names, slot);
    return others;
}

bool oche_sharing_has_hidden(const struct oche_sharing *share)
{
    /* our place is the number of sockets that were there before ours */
    return share->place != OCHE_PLACE_NONE && share->place > 0 &&
           share->place > count_others(share);
}

/* Installs the program for the places that we know. */
static void install_program(struct oche_sharing *share)
{
    uint8_t wanted[OCHE_SLOTS];

    if (!share->force && !all_known(share))
        return; /* until we know all places, another process's program is better than ours */
    for (unsigned slot = 0; slot < OCHE_SLOTS; slot++)
        wanted[slot] = slot == share->slot ? share->place : share->neighbours[slot].place;
    if (!share->force && memcmp(wanted, share->installed, sizeof(wanted)) == 0)
        return;
    if (oche_reuseport_install(share->udp, wanted))
        memcpy(share->installed, wanted, sizeof(wanted));
    share->force = false;
}

static void send_probe(const struct oche_sharing *share, uint8_t place)
{
    struct sockaddr_storage own;
    const socklen_t own_bytes = oche_address_to_socket(&share->address, share->port, &own);
    uint8_t probe[PROBE_BYTES] = {
        [OCHE_OPCODE_OFFSET] = OCHE_PROBE_OPCODE, [OCHE_PLACE_OFFSET] = place};

    memcpy(probe + OCHE_STEERED_BYTES, &share->nonce, sizeof(share->nonce));
    /* If the probe cannot be sent, we will probe again when packets go to the wrong process. */
    if (sendto(share->udp, probe, sizeof(probe), MSG_DONTWAIT, (struct sockaddr *)&own, own_bytes) <
        0)
        return;
}

/*
 * Finds our place: sends a probe to each possible place. A probe for a missing place may reach any
 * socket, including ours. So our place is the lowest one whose probe returns.
 */
static void find_place(struct oche_sharing *share, oche_time now)
{
    unsigned places = FIRST_PLACES;

    if (now < share->next_probe || share->entropy->failed)
        return; /* without a random nonce anybody could forge a probe */
    for (unsigned slot = 0; slot < OCHE_SLOTS; slot++)
        places += share->neighbours[slot].fd >= 0;
    if (places > OCHE_SLOTS || share->place == OCHE_PLACE_NONE)
        places = OCHE_SLOTS;
    share->next_probe = oche_time_add(now, PAUSE);
    share->nonce = oche_entropy_u64(share->entropy) | 1;
    share->place = OCHE_PLACE_NONE;
    for (unsigned place = 0; place < places; place++)
        send_probe(share, (uint8_t)place);
}

/*
 * To be called when packets went to the wrong process: our knowledge or the kernel's program is out
 * of date.
 */
static void find_place_again(struct oche_sharing *share, oche_time now)
{
    if (now < share->next_probe)
        return;
    share->force = true;
    find_place(share, now);
}

bool oche_sharing_take_probe(struct oche_sharing *share, const struct oche_datagram_in *in)
{
    const uint8_t place = in->count == PROBE_BYTES ? in->bytes[OCHE_PLACE_OFFSET] : OCHE_PLACE_NONE;

    if (place >= OCHE_SLOTS || in->bytes[OCHE_OPCODE_OFFSET] != OCHE_PROBE_OPCODE ||
        in->from_port != share->port || memcmp(&in->from, &share->address, sizeof(in->from)) != 0)
        return false;
    if (share->nonce == 0 ||
        memcmp(in->bytes + OCHE_STEERED_BYTES, &share->nonce, sizeof(share->nonce)) != 0 ||
        place >= share->place)
        return true; /* another process's probe, or one for a missing place */
    share->place = place;
    for (unsigned slot = 0; slot < OCHE_SLOTS; slot++)
        send_hello(share, &share->neighbours[slot]);
    install_program(share);
    return true;
}

/* ---- messages in ---- */

/*
 * Keeps the first descriptor of a control message, and closes the others. Only our user and root
 * can send us some (names.h): closing one may take long.
 */
static void take_descriptors(struct oche_sharing *share, const struct cmsghdr *c)
{
    const size_t bytes = c->cmsg_len - CMSG_LEN(0);
    int fd;

    for (size_t at = 0; at + sizeof(fd) <= bytes; at += sizeof(fd)) {
        memcpy(&fd, CMSG_DATA(c) + at, sizeof(fd));
        if (share->arrived_fd < 0)
            share->arrived_fd = fd;
        else
            close(fd);
    }
}

static void drop_descriptor(struct oche_sharing *share)
{
    if (share->arrived_fd >= 0)
        close(share->arrived_fd);
    share->arrived_fd = -1;
}

/*
 * Receives a message. Returns its bytes if a process of our user sent it; 0: nothing has arrived;
 * -1: what has arrived is not valid.
 */
static ssize_t receive_message(struct oche_sharing *share)
{
    union control control;
    struct iovec piece = {.iov_base = share->memory, .iov_len = MEMORY_BYTES};
    struct msghdr header = {.msg_iov = &piece,
                            .msg_iovlen = 1,
                            .msg_control = &control,
                            .msg_controllen = sizeof(control)};
    const ssize_t count = recvmsg(share->fd, &header, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    struct ucred sender = {.uid = geteuid() + 1};

    drop_descriptor(share);
    if (count < 0)
        return 0;
    for (struct cmsghdr *c = CMSG_FIRSTHDR(&header); c != NULL; c = CMSG_NXTHDR(&header, c)) {
        if (c->cmsg_level != SOL_SOCKET)
            continue;
        if (c->cmsg_type == SCM_CREDENTIALS && c->cmsg_len >= CMSG_LEN(sizeof(sender)))
            memcpy(&sender, CMSG_DATA(c), sizeof(sender));
        if (c->cmsg_type == SCM_RIGHTS)
            take_descriptors(share, c);
    }
    if (sender.uid == geteuid() && (header.msg_flags & MSG_TRUNC) == 0 &&
        count >= (ssize_t)sizeof(struct message))
        return count;
    drop_descriptor(share);
    return -1;
}

/* Maps the table of senders that came with the message. */
static void note_table(struct oche_sharing *share, unsigned slot, oche_time now)
{
    struct oche_neighbour *neighbour = &share->neighbours[slot];

    if (share->arrived_fd < 0 || share->senders.fd < 0 || neighbour->fd < 0)
        return;
    oche_sender_view_open(&neighbour->view, share->arrived_fd, now);
    share->arrived_fd = -1;
    share->with_table |= UINT64_C(1) << slot;
}

static void note_place(struct oche_sharing *share, struct oche_neighbour *neighbour, uint8_t place)
{
    if (place >= OCHE_SLOTS)
        return; /* the neighbour does not know its place yet, and will tell us later */
    neighbour->place = place;
    install_program(share);
}

static void take_hello(struct oche_sharing *share, const struct message *hello)
{
    struct oche_neighbour *neighbour = &share->neighbours[hello->slot];
    struct message answer = message_of(share, KIND_ANSWER, hello->nonce);

    /*
     * Sending fails if we are not connected, or are connected to a process that had the slot
     * before.
     */
    if (!send_message(neighbour, &answer, NULL, 0) && connect_to(share, hello->slot))
        send_message(neighbour, &answer, NULL, 0);
    neighbour->table_sent = false; /* it may have lost our table */
    send_table(share, neighbour);
    if (neighbour->fd >= 0)
        note_place(share, neighbour, hello->place);
}

static void take_answer(struct oche_sharing *share, const struct message *answer)
{
    struct oche_neighbour *neighbour = &share->neighbours[answer->slot];

    if (neighbour->fd < 0 || neighbour->nonce != answer->nonce)
        return;
    neighbour->trusted = true;
    send_table(share, neighbour);
    note_place(share, neighbour, answer->place);
}

static bool take_packets(struct oche_sharing *share, const struct message *message, size_t count,
                         struct oche_datagram_in *in)
{
    *in = (struct oche_datagram_in){
        .bytes = share->memory + sizeof(*message),
        .count = (uint32_t)(count - sizeof(*message)),
        .segment_bytes = message->segment_bytes,
        .from = message->from,
        .from_port = message->from_port,
        .tos = message->tos,
        .passed_on = true,
    };
    return in->count > 0 && in->segment_bytes > 0;
}

bool oche_sharing_receive(struct oche_sharing *share, struct oche_datagram_in *in, oche_time now)
{
    struct message message;
    ssize_t count;

    for (unsigned count_of_messages = 0;
         count_of_messages < MESSAGES && (count = receive_message(share)) != 0;
         count_of_messages++) {
        if (count > 0)
            memcpy(&message, share->memory, sizeof(message));
        if (count < 0 || message.magic != MAGIC || message.version != VERSION ||
            message.slot >= OCHE_SLOTS || message.slot == share->slot) {
            share->refused++;
            continue;
        }
        switch (message.kind) {
        case KIND_HELLO:
            take_hello(share, &message);
            break;
        case KIND_ANSWER:
            take_answer(share, &message);
            break;
        case KIND_TABLE:
            note_table(share, message.slot, now);
            break;
        case KIND_GOODBYE:
            disconnect(&share->neighbours[message.slot]);
            share->next_probe = 0;
            find_place_again(share, now);
            break;
        case KIND_PACKETS:
            find_place_again(share, now); /* fall through */
        case KIND_MANAGEMENT:
            if (take_packets(share, &message, (size_t)count, in))
                return true;
            break;
        default:
            share->refused++;
        }
    }
    return false;
}

/* ---- passing on ---- */

/* Queues packets until their process has room. Returns false if the queue is full. */
static bool enqueue(struct oche_sharing *share, unsigned slot, const struct message *message,
                    const uint8_t *bytes, uint32_t count)
{
    const size_t size = sizeof(struct oche_queued) + count;
    struct oche_queued *queued = share->queued_bytes + size <= MOST_QUEUED ? malloc(size) : NULL;

    if (queued == NULL)
        return false;
    *queued = (struct oche_queued){.count = count,
                                   .packets = (count + message->segment_bytes - 1) /
                                              message->segment_bytes,
                                   .slot = (uint8_t)slot,
                                   .message = *message};
    memcpy(queued->bytes, bytes, count);
    *share->last_queued = queued;
    share->last_queued = &queued->next;
    share->queued_bytes += size;
    share->queued_count++;
    share->neighbours[slot].queued++;
    return true;
}

/* Removes a message from the queue that was sent, or that has no receiver any more. */
static void dequeue(struct oche_sharing *share, struct oche_queued **link)
{
    struct oche_queued *queued = *link;

    *link = queued->next;
    if (queued->next == NULL)
        share->last_queued = link;
    share->queued_bytes -= sizeof(*queued) + queued->count;
    share->queued_count--;
    share->neighbours[queued->slot].queued--;
    free(queued);
}

void oche_sharing_retry_queued(struct oche_sharing *share)
{
    struct oche_queued **link = &share->queued;
    uint32_t left = share->queued_count; /* messages for slots that are not known to be full */
    /* one bit for each slot whose queue is full: later messages for it must wait, too */
    uint64_t full = 0;

    while (left > 0) {
        struct oche_queued *queued = *link;
        struct oche_neighbour *neighbour = &share->neighbours[queued->slot];
        const uint64_t bit = UINT64_C(1) << queued->slot;

        if ((full & bit) == 0) {
            if (neighbour->trusted &&
                !send_message(neighbour, &queued->message, queued->bytes, queued->count) &&
                neighbour->trusted) {
                full |= bit;
                left -= neighbour->queued;
            } else {
                share->lost += neighbour->trusted ? 0 : queued->packets;
                dequeue(share, link);
                left--;
                continue;
            }
        }
        link = &queued->next;
    }
}

static enum oche_sharing_result forward(struct oche_sharing *share, unsigned slot, enum kind kind,
                                        const struct oche_datagram_in *in, const uint8_t *bytes,
                                        uint32_t count, oche_time now)
{
    struct oche_neighbour *neighbour = &share->neighbours[slot];
    struct message message = message_of(share, kind, 0);

    message.from = in->from;
    message.from_port = in->from_port;
    message.segment_bytes = in->segment_bytes;
    message.tos = in->tos;
    const bool may_hold = kind == KIND_PACKETS || neighbour->queued < MOST_MANAGEMENT;

    if (neighbour->trusted &&
        ((neighbour->queued == 0 && send_message(neighbour, &message, bytes, count)) ||
         (neighbour->fd >= 0 && may_hold && enqueue(share, slot, &message, bytes, count)))) {
        if (kind == KIND_PACKETS)
            find_place_again(share, now);
        return OCHE_SHARING_DONE;
    }
    if (neighbour->trusted)
        return OCHE_SHARING_LOST; /* its queue has been full for a long time */
    if (now >= neighbour->next_hello) {
        neighbour->next_hello = oche_time_add(now, PAUSE);
        connect_to(share, slot);
    }
    return neighbour->fd >= 0 ? OCHE_SHARING_LOST : OCHE_SHARING_NOBODY;
}

enum oche_sharing_result oche_sharing_forward(struct oche_sharing *share,
                                              const struct oche_datagram_in *in,
                                              const uint8_t *bytes, uint32_t count, oche_time now)
{
    return forward(share, oche_sharing_slot(bytes), KIND_PACKETS, in, bytes, count, now);
}

enum oche_sharing_result oche_sharing_forward_to(struct oche_sharing *share, unsigned slot,
                                                 const struct oche_datagram_in *in,
                                                 const uint8_t *bytes, uint32_t count,
                                                 oche_time now)
{
    return forward(share, slot, KIND_MANAGEMENT, in, bytes, count, now);
}

/* ---- coming and going ---- */

static bool has_credentials(int inbox)
{
    const int yes = 1;

    return setsockopt(inbox, SOL_SOCKET, SO_PASSCRED, &yes, sizeof(yes)) == 0;
}

/* Takes a slot for our inbox. */
static enum oche_sharing_opened take_slot(struct oche_sharing *share, struct oche_error *error)
{
    struct oche_error why;

    switch (oche_names_open(&share->names, &share->address, share->port, share->fd, &why)) {
    case OCHE_NAMES_TAKEN:
        share->slot = (uint8_t)share->names.slot;
        return OCHE_SHARING_OPEN;
    case OCHE_NAMES_ALL_TAKEN:
        oche_fail(error, "UDP port %u: %s", share->port, why.text);
        errno = EADDRINUSE;
        return OCHE_SHARING_FAILED;
    default:
        *error = why;
        return OCHE_SHARING_ALONE;
    }
}

enum oche_sharing_opened oche_sharing_open(struct oche_sharing *share,
                                           const struct oche_address *address, uint16_t port,
                                           struct oche_entropy *entropy, struct oche_error *error)
{
    enum oche_sharing_opened opened = OCHE_SHARING_FAILED;
    int why;

    *share =
        (struct oche_sharing){.udp = -1, .address = *address, .port = port, .entropy = entropy};
    share->senders.fd = share->arrived_fd = share->names.file = -1;
    share->place = OCHE_PLACE_NONE;
    share->last_queued = &share->queued;
    for (unsigned slot = 0; slot < OCHE_SLOTS; slot++)
        share->neighbours[slot] = (struct oche_neighbour){.fd = -1, .place = OCHE_PLACE_NONE};
    memset(share->installed, OCHE_PLACE_NONE, sizeof(share->installed));
    share->memory = malloc(MEMORY_BYTES);
    share->fd = unix_socket();
    if (share->memory == NULL || share->fd < 0 || !has_credentials(share->fd))
        oche_fail(error, "no Unix socket: %s", strerror(errno));
    else
        opened = take_slot(share, error);
    if (opened == OCHE_SHARING_OPEN)
        return opened;
    why = errno;
    oche_sharing_close(share);
    errno = why;
    return opened;
}

bool oche_sharing_join(struct oche_sharing *share, int udp, oche_time now)
{
    unsigned alive = 0;

    share->udp = udp;
    for (unsigned slot = 0; slot < OCHE_SLOTS; slot++)
        if (slot != share->slot && oche_names_slot_taken(&share->names, slot))
            alive += connect_to(share, slot);
    if (alive == 0 && !oche_reuseport_install(udp, share->installed))
        return false;
    find_place(share, now);
    return true;
}

void oche_sharing_leave(struct oche_sharing *share)
{
    if (share->fd < 0)
        return; /* `share` was never opened, so it has no descriptors */
    for (unsigned slot = 0; slot < OCHE_SLOTS; slot++)
        disconnect(&share->neighbours[slot]);
    close(share->fd);
    share->fd = -1;
    oche_names_leave(&share->names);
    drop_descriptor(share);
    if (share->senders.fd >= 0)
        close(share->senders.fd);
    share->senders.fd = -1;
}

void oche_sharing_drop_dead(struct oche_sharing *share)
{
    for (unsigned slot = 0; slot < OCHE_SLOTS; slot++) { /* its inbox may have had no room before */
        if (share->neighbours[slot].fd >= 0 && !share->neighbours[slot].trusted)
            send_hello(share, &share->neighbours[slot]);
        send_table(share, &share->neighbours[slot]);
    }
    for (uint64_t left = share->with_table; left != 0; left &= left - 1) {
        const unsigned slot = (unsigned)__builtin_ctzll(left);

        if (oche_names_slot_taken(&share->names, slot))
            continue;
        disconnect(&share->neighbours[slot]);
        share->with_table &= ~(UINT64_C(1) << slot);
    }
}

void oche_sharing_check_neighbours(struct oche_sharing *share, oche_time now)
{
    bool ended = false;

    if (now < share->next_check)
        return;
    for (unsigned slot = 0; slot < OCHE_SLOTS; slot++) {
        if (share->neighbours[slot].fd < 0 || oche_names_slot_taken(&share->names, slot))
            continue;
        disconnect(&share->neighbours[slot]);
        ended = true;
    }
    if (!ended)
        return;
    share->next_probe = 0;
    find_place_again(share, now);
}

bool oche_sharing_restore_names(struct oche_sharing *share, oche_time now)
{
    int inbox;
    bool again;

    if (!oche_names_lost(&share->names) || (inbox = unix_socket()) < 0)
        return false;
    share->next_check = oche_time_add(now, RESTORING);
    again = has_credentials(inbox) &&
            oche_names_restore(&share->names, &share->address, share->port, inbox) &&
            dup3(inbox, share->fd, O_CLOEXEC) >= 0; /* others may wait for the descriptor */
    close(inbox);
    return again;
}

void oche_sharing_close(struct oche_sharing *share)
{
    struct message goodbye = message_of(share, KIND_GOODBYE, 0);

    for (unsigned slot = 0; slot < OCHE_SLOTS && share->fd >= 0; slot++)
        send_message(&share->neighbours[slot], &goodbye, NULL, 0);
    if (share->fd >= 0)
        oche_names_close(&share->names);
    oche_sharing_leave(share);
    oche_sender_table_close(&share->senders);
    while (share->queued != NULL) {
        struct oche_queued *queued = share->queued;

        share->queued = queued->next;
        free(queued);
    }
    free(share->memory);
    share->memory = NULL;
}
