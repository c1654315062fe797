/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A path between two network namespaces, for programs that know nothing of it: a TUN device in
 * each, and between them a link with a rate and a queue that marks CE or overflows, or that loses,
 * duplicates, reorders and damages packets: RoCEv2 alone, or with --all whatever goes there (TCP).
 * SIGUSR1 takes the link down, so that all is lost, and SIGUSR2 takes it up again.
 *     path [OPTION…] DEVICE NETNS      the other end is in NETNS, a file: /proc/PID/ns/net
 *     path [OPTION…] --machine=SOCKET DEVICE OWN
 * The second form is for a virtual machine: the device is a TAP, and Ethernet frames are datagrams
 * between the UNIX sockets OWN, which is made here, and the machine's.
 * Prints "ready" when both devices are there; whoever started it gives them addresses. Ends when
 * standard input ends, and prints its counts.
 */
#include <argp.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <poll.h>
#include <signal.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "core/random.h"
#include "device/host/clock.h"

#define MOST_BYTES  9216
#define QUEUE       8192 /* packets, also those that are on their way */
#define LATE        1024 /* packets that are late at one time */
#define LATEST      (500 * OCHE_US)
#define ROCE_PORT   4791
#define UDP         17
#define AT_ONCE     64 /* packets taken from one side before the other one's turn */
#define ECN_CE      3
#define CANNOT_HERE 77
#define ONCE        8 /* packets that are named one by one, at most */

enum { LOSE, DUPLICATE, REORDER, CORRUPT, FAULTS };

struct packet {
    oche_time when;
    uint32_t count; /* 0: none, of one that is late */
    uint8_t bytes[MOST_BYTES];
};

struct way {
    int from, to;
    struct packet *queue; /* a ring */
    uint32_t first, count;
    oche_time link_free; /* when the link has sent all packets that were given to it */
    struct packet *late;
    const struct sockaddr_un *name; /* the socket to which `to` sends; NULL: `to` is a device */
    uint32_t late_count;
    uint64_t passed, marked, overflowed;
};

/*
 * The one packet that is lost: the first of this way with this opcode (BTH) after `before` others.
 */
struct once {
    unsigned way, opcode, before;
};

struct path {
    const char *device, *other; /* a namespace, or a socket of ours */
    const char *machine;        /* the socket, if `other` is one */
    uint32_t ethernet;          /* bytes before the IP header */
    struct sockaddr_un to;
    struct once once[ONCE];
    unsigned once_count;
    uint64_t rate_bps;
    oche_time delay; /* one way */
    oche_time late_least, late_most;
    bool all; /* faults also hit packets that are not RoCEv2 */
    uint32_t queue_bytes, mark_bytes, ppm[FAULTS];
    struct oche_random random;
    struct oche_clock clock;
    uint64_t done[FAULTS];
    struct way ways[2];
};

_Noreturn void oche_panic(const char *file, int line, const char *what)
{
    fprintf(stderr, "%s:%d: broken invariant: %s\n", file, line, what);
    abort();
}

static volatile sig_atomic_t is_down;

static void take_down_or_up(int signal)
{
    is_down = signal == SIGUSR1;
}

/* ---- the bytes of a packet ---- */

static bool is_ipv4(const uint8_t *ip)
{
    return ip[0] >> 4 == 4;
}

/* Returns the offset of the UDP header of a RoCEv2 packet, else 0. */
static uint32_t udp_of(const uint8_t *ip, uint32_t count)
{
    const uint32_t header = is_ipv4(ip) ? 20 : 40;

    if (count < header + 8 || ip[is_ipv4(ip) ? 9 : 6] != UDP ||
        (uint16_t)(ip[header + 2] << 8 | ip[header + 3]) != ROCE_PORT)
        return 0;
    return header;
}

static void ipv4_checksum(uint8_t *ip)
{
    uint32_t sum = 0;

    ip[10] = ip[11] = 0;
    for (unsigned i = 0; i < 20; i += 2)
        sum += (uint32_t)(ip[i] << 8 | ip[i + 1]);
    while (sum >> 16 != 0)
        sum = (sum & 0xffff) + (sum >> 16);
    ip[10] = (uint8_t)(~sum >> 8);
    ip[11] = (uint8_t)~sum;
}

/* Marks the packet as a switch does. Returns false if it is not ECN-capable. */
static bool mark(uint8_t *ip)
{
    if (is_ipv4(ip)) {
        if ((ip[1] & ECN_CE) == 0)
            return false;
        ip[1] |= ECN_CE;
        ipv4_checksum(ip);
        return true;
    }
    if ((ip[1] & ECN_CE << 4) == 0)
        return false;
    ip[1] |= ECN_CE << 4;
    return true;
}

/*
 * Damages a byte behind UDP's header. Over IPv4 it removes UDP's checksum, so that only the ICRC
 * shows the damage.
 */
static void damage(struct path *path, uint8_t *ip, uint32_t count, uint32_t udp)
{
    const uint32_t at = udp + 8 + (uint32_t)oche_random_below(&path->random, count - udp - 8);

    ip[at] ^= (uint8_t)(1 << oche_random_below(&path->random, 8));
    if (is_ipv4(ip))
        ip[udp + 6] = ip[udp + 7] = 0;
}

/* ---- the link ---- */

static bool happens(struct path *path, unsigned fault)
{
    if (oche_random_below(&path->random, 1000000) >= path->ppm[fault])
        return false;
    path->done[fault]++;
    return true;
}

static void send_now(struct way *way, const struct packet *packet)
{
    const ssize_t done = way->name == NULL
                             ? write(way->to, packet->bytes, packet->count)
                             : sendto(way->to, packet->bytes, packet->count, 0,
                                      (const struct sockaddr *)way->name, sizeof(*way->name));

    way->passed += done == (ssize_t)packet->count;
}

/* Bytes that the link has not begun to send. */
static uint64_t queued_bytes(const struct path *path, const struct way *way, oche_time now)
{
    return way->link_free <= now
               ? 0
               : (uint64_t)((double)(way->link_free - now) * (double)path->rate_bps / 8e12);
}

/* Keeps the packet until `when`, while others pass. */
static void keep_late(struct way *way, const struct packet *packet, oche_time when)
{
    for (unsigned i = 0; i < LATE; i++)
        if (way->late[i].count == 0) {
            way->late[i].count = packet->count;
            memcpy(way->late[i].bytes, packet->bytes, packet->count);
            way->late[i].when = when;
            way->late_count++;
            return;
        }
}

/* `late`: how much later than others the packet comes out of the link. */
static void enqueue(struct path *path, struct way *way, struct packet *packet, oche_time late)
{
    const oche_time now = oche_clock_now(&path->clock);
    struct packet *place;

    if (path->rate_bps == 0) {
        if (late == 0)
            send_now(way, packet);
        else
            keep_late(way, packet, now + late);
        return;
    }
    const uint64_t bytes = queued_bytes(path, way, now);

    if (way->count == QUEUE || bytes + packet->count > path->queue_bytes) {
        way->overflowed++;
        return;
    }
    if (bytes > path->mark_bytes && mark(packet->bytes + path->ethernet))
        way->marked++;
    if (way->link_free < now)
        way->link_free = now;
    way->link_free += oche_time_of_bytes(packet->count, path->rate_bps);
    if (late > 0) {
        keep_late(way, packet, way->link_free + path->delay + late);
        return;
    }
    place = &way->queue[(way->first + way->count++) % QUEUE];
    place->when = way->link_free + path->delay;
    place->count = packet->count;
    memcpy(place->bytes, packet->bytes, packet->count);
}

static oche_time lateness(struct path *path)
{
    const oche_time range = path->late_most - path->late_least;

    return path->late_least + oche_random_below(&path->random, range + 1);
}

/* True if this packet is one that was named. */
static bool is_its_turn(struct path *path, const struct way *way, uint8_t opcode)
{
    bool turn = false;

    for (unsigned i = 0; i < path->once_count; i++) {
        struct once *once = &path->once[i];

        if (&path->ways[once->way] == way && once->opcode == opcode && once->before-- == 0)
            turn = true;
    }
    path->done[LOSE] += turn;
    return turn;
}

static void take(struct path *path, struct way *way, struct packet *packet)
{
    uint8_t *const ip = packet->bytes + path->ethernet;
    const uint32_t count = packet->count - path->ethernet, udp = udp_of(ip, count);

    if (udp != 0 && count > udp + 8 && is_its_turn(path, way, ip[udp + 8]))
        return;
    if (is_down) {
        path->done[LOSE]++;
        return;
    }
    if (udp == 0 && !path->all) {
        send_now(way, packet);
        return;
    }
    if (happens(path, LOSE))
        return;
    if (happens(path, DUPLICATE))
        enqueue(path, way, packet, lateness(path));
    if (udp != 0 && happens(path, CORRUPT))
        damage(path, ip, count, udp);
    enqueue(path, way, packet, happens(path, REORDER) ? lateness(path) : 0);
}

/* Sends the packets that are due. Returns the time of the next one. */
static oche_time send_due(struct path *path, struct way *way)
{
    const oche_time now = oche_clock_now(&path->clock);
    oche_time next = OCHE_NEVER;

    while (way->count > 0 && way->queue[way->first].when <= now) {
        send_now(way, &way->queue[way->first]);
        way->first = (way->first + 1) % QUEUE;
        way->count--;
    }
    if (way->count > 0)
        next = way->queue[way->first].when;
    for (unsigned i = 0; way->late_count > 0 && i < LATE; i++) {
        struct packet *late = &way->late[i];

        if (late->count > 0 && late->when <= now) {
            send_now(way, late);
            late->count = 0;
            way->late_count--;
        } else if (late->count > 0 && late->when < next) {
            next = late->when;
        }
    }
    return next;
}

static void run(struct path *path)
{
    static struct packet packet;
    struct pollfd fds[3] = {{.fd = path->ways[0].from, .events = POLLIN},
                            {.fd = path->ways[1].from, .events = POLLIN},
                            {.fd = STDIN_FILENO, .events = POLLIN}};

    while (fds[2].revents == 0) {
        oche_time next = OCHE_NEVER;
        struct timespec wait = {.tv_nsec = 100000000};

        for (unsigned i = 0; i < 2; i++) {
            ssize_t count = 0;

            for (unsigned j = 0; j < AT_ONCE; j++) {
                count = read(fds[i].fd, packet.bytes, sizeof(packet.bytes));
                if (count < 0)
                    break;
                if (count < 20 + (ssize_t)path->ethernet)
                    continue;
                packet.count = (uint32_t)count;
                take(path, &path->ways[i], &packet);
            }
        }
        for (unsigned i = 0; i < 2; i++) {
            const oche_time due = send_due(path, &path->ways[i]);

            next = due < next ? due : next;
        }
        if (next != OCHE_NEVER) {
            const oche_time now = oche_clock_now(&path->clock);

            wait.tv_nsec = next > now ? (long)((next - now) / OCHE_NS) % 100000000 : 0;
        }
        ppoll(fds, 3, &wait, NULL);
    }
}

/* ---- from the outside ---- */

static int open_tun(const char *name, short kind)
{
    const int fd = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);
    struct ifreq request = {.ifr_flags = (short)(kind | IFF_NO_PI)};

    snprintf(request.ifr_name, sizeof(request.ifr_name), "%s", name);
    if (fd < 0 || ioctl(fd, TUNSETIFF, &request) != 0) {
        fprintf(stderr, "path: %s: %s\n", name, strerror(errno));
        exit(CANNOT_HERE);
    }
    return fd;
}

static struct sockaddr_un socket_name(const char *path)
{
    struct sockaddr_un name = {.sun_family = AF_UNIX};

    snprintf(name.sun_path, sizeof(name.sun_path), "%s", path);
    return name;
}

/* The socket for a machine. */
static int open_socket(struct path *path)
{
    const struct sockaddr_un own = socket_name(path->other);
    const int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    const int bytes = 4 << 20;

    unlink(path->other);
    if (fd < 0 || bind(fd, (const struct sockaddr *)&own, sizeof(own)) != 0) {
        fprintf(stderr, "path: %s: %s\n", path->other, strerror(errno));
        exit(2);
    }
    setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof(bytes));
    path->to = socket_name(path->machine);
    return fd;
}

/* The device in the other namespace. */
static int open_other(struct path *path)
{
    const int netns = open(path->other, O_RDONLY | O_CLOEXEC);

    if (netns < 0 || setns(netns, CLONE_NEWNET) != 0) {
        fprintf(stderr, "path: %s: %s\n", path->other, strerror(errno));
        exit(CANNOT_HERE);
    }
    return open_tun(path->device, IFF_TUN);
}

/* Adds the packet that "out:OPCODE:N" or "in:OPCODE:N" names. */
static void parse_once(struct path *path, const char *text, struct argp_state *state)
{
    char way[4];
    struct once once;

    if (path->once_count == ONCE ||
        sscanf(text, "%3[a-z]:%i:%u", way, (int *)&once.opcode, &once.before) != 3 ||
        (strcmp(way, "in") != 0 && strcmp(way, "out") != 0) || once.before == 0)
        argp_error(state, "%s: not out:OPCODE:N or in:OPCODE:N", text);
    once.way = way[0] == 'i';
    once.before--;
    path->once[path->once_count++] = once;
}

/* "0.5-2.5", in milliseconds. */
static void parse_late(struct path *path, const char *text, struct argp_state *state)
{
    double least, most;

    if (sscanf(text, "%lf-%lf", &least, &most) != 2 || least < 0 || most < least)
        argp_error(state, "%s: not LEAST-MOST in milliseconds", text);
    path->late_least = (oche_time)(least * OCHE_MS);
    path->late_most = (oche_time)(most * OCHE_MS);
}

static void open_way(struct path *path, unsigned i, int from, int to)
{
    struct way *way = &path->ways[i];

    way->from = from;
    way->to = to;
    way->queue = calloc(QUEUE, sizeof(*way->queue));
    way->late = calloc(LATE, sizeof(*way->late));
    if (way->queue == NULL || way->late == NULL)
        exit(2);
}

static error_t parse(int key, char *argument, struct argp_state *state)
{
    struct path *path = state->input;
    const char *faults = "ldxc", *fault = key < 128 ? strchr(faults, key) : NULL;

    if (key > 0 && fault != NULL) {
        path->ppm[fault - faults] = (uint32_t)strtoul(argument, NULL, 0);
        return 0;
    }
    switch (key) {
    case 'r':
        path->rate_bps = strtoull(argument, NULL, 0) * OCHE_MBPS;
        return 0;
    case 'D':
        path->delay = (oche_time)(strtod(argument, NULL) * OCHE_MS);
        return 0;
    case 'q':
        path->queue_bytes = (uint32_t)strtoul(argument, NULL, 0) * 1000;
        return 0;
    case 'm':
        path->mark_bytes = (uint32_t)strtoul(argument, NULL, 0) * 1000;
        return 0;
    case 'a':
        path->all = true;
        return 0;
    case 'L':
        parse_late(path, argument, state);
        return 0;
    case 'o':
        parse_once(path, argument, state);
        return 0;
    case 'M':
        path->machine = argument;
        path->ethernet = 14;
        return 0;
    case 's':
        path->random = oche_random_stream(strtoull(argument, NULL, 0), "path", 0);
        return 0;
    case ARGP_KEY_ARG:
        if (state->arg_num > 1)
            argp_usage(state);
        *(state->arg_num == 0 ? &path->device : &path->other) = argument;
        return 0;
    case ARGP_KEY_END:
        if (state->arg_num != 2)
            argp_usage(state);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

int main(int argc, char **argv)
{
    static const struct argp_option known[] = {
        {"rate", 'r', "MBPS", 0, "of the link (as fast as it goes)", 0},
        {"delay", 'D', "MS", 0, "of each way, with a rate (0)", 0},
        {"queue", 'q', "KB", 0, "before the link; what is more is lost (1000)", 0},
        {"mark", 'm', "KB", 0, "in the queue from which packets are marked CE (never)", 0},
        {"lose", 'l', "PPM", 0, "RoCEv2 packets in a million (0), as all that follow", 0},
        {"duplicate", 'd', "PPM", 0, "come a second time, a little later", 0},
        {"reorder", 'x', "PPM", 0, "come late", 0},
        {"late", 'L', "LEAST-MOST", 0, "by how much late, in ms (0-0.5)", 0},
        {"all", 'a', NULL, 0, "all of that for other packets, too, which else are passed on", 0},
        {"corrupt", 'c', "PPM", 0, "have a wrong bit", 0},
        {"seed", 's', "N", 0, "of all that (1)", 0},
        {"once", 'o', "WAY:OPCODE:N", 0,
         "loses the Nth packet (from 1) with this opcode that goes out of DEVICE, or in", 0},
        {"machine", 'M', "SOCKET", 0, "the other end is a virtual machine's", 0},
        {0},
    };
    static const struct argp argp = {.options = known, .parser = parse, .args_doc = "DEVICE OTHER"};
    static struct path path = {
        .queue_bytes = 1000000, .mark_bytes = UINT32_MAX, .late_most = LATEST};
    const struct sigaction switches = {.sa_handler = take_down_or_up};
    int near, far;

    path.random = oche_random_stream(1, "path", 0);
    argp_parse(&argp, argc, argv, 0, NULL, &path);
    near = open_tun(path.device, path.machine != NULL ? IFF_TAP : IFF_TUN);
    far = path.machine != NULL ? open_socket(&path) : open_other(&path);
    open_way(&path, 0, near, far);
    open_way(&path, 1, far, near);
    path.ways[0].name = path.machine != NULL ? &path.to : NULL;
    oche_clock_start(&path.clock);
    sigaction(SIGUSR1, &switches, NULL);
    sigaction(SIGUSR2, &switches, NULL);
    printf("ready\n");
    fflush(stdout);
    run(&path);
    printf("path: passed %llu, marked %llu, overflowed %llu, lost %llu, duplicated %llu, "
           "reordered %llu, corrupted %llu\n",
           (unsigned long long)(path.ways[0].passed + path.ways[1].passed),
           (unsigned long long)(path.ways[0].marked + path.ways[1].marked),
           (unsigned long long)(path.ways[0].overflowed + path.ways[1].overflowed),
           (unsigned long long)path.done[LOSE], (unsigned long long)path.done[DUPLICATE],
           (unsigned long long)path.done[REORDER], (unsigned long long)path.done[CORRUPT]);
    return 0;
}
