/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Other users of the host against a device: they send to its doors, ask for its names, put
 * something into the place of its folder, take its address. There are three users: a victim, a
 * stranger, and root, whose messages do not count either.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/securebits.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "device/internal.h"
#include "device/view/reader.h"
#include "device/view/writer.h"
#include "tests/support/other_user.h"
#include "tests/unit/device/pair.h"

#define PORT    4791
#define SERVICE UINT64_C(0x1061c06)

static const struct oche_device_config shared = {.share = true};

/* State that the processes of a test share. */
static struct board {
    volatile bool open, over;
    char address[32], inbox[108], file[108];
    struct oche_device_stats stats;
} * board;

static uid_t victim, stranger;
static uid_t owner; /* whose folders place_of() names: the victim's */

/* ---- a victim's device ---- */

static int run_device(void *context)
{
    struct end end;
    struct sockaddr_un inbox;

    (void)context;
    end_open(&end, &shared, board->address, 0);
    if (!oche_device_take_service(end.device, SERVICE))
        return 1;
    oche_names_inbox(&end.device->share.names, end.device->share.slot, &inbox);
    snprintf(board->inbox, sizeof(board->inbox), "%s", inbox.sun_path);
    snprintf(board->file, sizeof(board->file), "%s", end.device->share.names.path);
    board->open = true;
    while (!board->over) {
        oche_device_progress(end.device);
        usleep(500);
    }
    for (unsigned i = 0; i < 100; i++)
        oche_device_progress(end.device);
    oche_device_stats(end.device, &board->stats);
    end_close(&end);
    return 0;
}

static pid_t start_device(uid_t user)
{
    pid_t child;

    *board = (struct board){0};
    loopback_address(board->address, 1);
    child = fork();
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL); /* if the test fails */
        _exit(test_as(user, run_device, NULL));
    }
    for (unsigned tries = 0; tries < 5000 && !board->open; tries++)
        usleep(1000);
    assert_true(board->open);
    return child;
}

static void end_device(pid_t child)
{
    int status;

    board->over = true;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

/* ---- inboxes ---- */

/* A TCP socket that lingers for ten seconds, with bytes that its peer does not take. */
static int lingering(void)
{
    struct sockaddr_in own = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    const struct linger linger = {.l_onoff = 1, .l_linger = 10};
    static const char bytes[1 << 16];
    const int listening = socket(AF_INET, SOCK_STREAM, 0),
              fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
    socklen_t size = sizeof(own);

    if (bind(listening, (struct sockaddr *)(void *)&own, size) != 0 || listen(listening, 1) != 0 ||
        getsockname(listening, (struct sockaddr *)(void *)&own, &size) != 0 ||
        (connect(fd, (struct sockaddr *)(void *)&own, size) != 0 && errno != EINPROGRESS))
        return -1;
    for (unsigned i = 0; i < 1000 && send(fd, bytes, sizeof(bytes), MSG_NOSIGNAL) > 0; i++)
        continue;
    setsockopt(fd, SOL_SOCKET, SO_LINGER, &linger, sizeof(linger));
    return fd;
}

/* Sends a descriptor to a socket's name. Returns true if it is queued there. */
static bool send_descriptor(const struct sockaddr_un *to, socklen_t bytes, int descriptor)
{
    union {
        struct cmsghdr align;
        char bytes[CMSG_SPACE(sizeof(int))];
    } control = {.align = {.cmsg_level = SOL_SOCKET,
                           .cmsg_type = SCM_RIGHTS,
                           .cmsg_len = CMSG_LEN(sizeof(int))}};
    struct iovec piece = {.iov_base = (char[]){"oche"}, .iov_len = 4};
    struct msghdr header = {.msg_name = (void *)(uintptr_t)to,
                            .msg_namelen = bytes,
                            .msg_iov = &piece,
                            .msg_iovlen = 1,
                            .msg_control = &control,
                            .msg_controllen = sizeof(control)};
    const int fd = socket(AF_UNIX, SOCK_DGRAM, 0);

    memcpy(CMSG_DATA(&control.align), &descriptor, sizeof(descriptor));
    const bool sent = sendmsg(fd, &header, MSG_DONTWAIT) >= 0;
    close(fd);
    return sent;
}

/* Sends a descriptor to each socket that has the victim's address in its name. */
static int send_to_all(void *context)
{
    FILE *rows = fopen("/proc/net/unix", "r");
    const int descriptor = lingering();
    char row[512];
    unsigned sockets = 0;

    (void)context;
    if (rows == NULL || descriptor < 0)
        return 50;
    while (fgets(row, sizeof(row), rows) != NULL) {
        struct sockaddr_un to = {.sun_family = AF_UNIX};
        char *name = strrchr(row, ' ') + 1;
        size_t length = strcspn(name, "\n");

        if (strstr(name, board->address) == NULL || length >= sizeof(to.sun_path))
            continue;
        memcpy(to.sun_path, name, length);
        if (name[0] == '@')
            to.sun_path[0] = '\0';
        else
            length++;
        sockets++;
        if (send_descriptor(&to, (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length),
                            descriptor))
            return 1;
    }
    return sockets > 0 ? 0 : 51;
}

static int look_into_names(void *context)
{
    char folder[128];

    (void)context;
    snprintf(folder, sizeof(folder), "%s", board->file);
    *strrchr(folder, '/') = '\0';
    return open(board->file, O_RDONLY) >= 0 || open(folder, O_RDONLY) >= 0 ||
           access(board->file, F_OK) == 0;
}

/* A device's sockets take nothing from a stranger, who sees no names of its user. */
static void inboxes_are_shut(void **state)
{
    const pid_t device = start_device(victim);

    (void)state;
    assert_int_equal(test_as(stranger, send_to_all, NULL), 0);
    assert_int_equal(test_as(stranger, look_into_names, NULL), 0);
    end_device(device);
    assert_int_equal(board->stats.pass_refused, 0);
}

static int say_packets(void *context)
{
    /* Begins like ours: right magic and version, packets, from slot 9. */
    const uint8_t message[128] = {0x65, 0x68, 0x63, 0x6f, 2, 3, 9, [32] = 24};
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    const int fd = socket(AF_UNIX, SOCK_DGRAM, 0);

    (void)context;
    snprintf(to.sun_path, sizeof(to.sun_path), "%s", board->inbox);
    return sendto(fd, message, sizeof(message), 0, (struct sockaddr *)&to, sizeof(to)) !=
           (ssize_t)sizeof(message);
}

/*
 * Root can reach an inbox, but its message is refused. A message of the inbox's user is accepted.
 */
static void messages_of_others(void **state)
{
    pid_t device = start_device(victim);

    (void)state;
    assert_int_equal(say_packets(NULL), 0);
    end_device(device);
    assert_int_equal(board->stats.pass_refused, 1);
    assert_int_equal(board->stats.received_packets, 0);
    device = start_device(victim);
    assert_int_equal(test_as(victim, say_packets, NULL), 0);
    end_device(device);
    assert_int_equal(board->stats.pass_refused, 0);
    assert_true(board->stats.received_packets > 0);
}

/* ---- one address ---- */

static int open_there(void *context)
{
    struct oche_device_config config = shared;
    struct oche_error error;

    (void)context;
    config.address = board->address;
    if (oche_device_open(&config, &error) != NULL)
        return 1;
    return errno == EADDRINUSE && strstr(error.text, "UDP port 4791: Address already in use") ? 0
                                                                                              : 2;
}

static void an_address_has_one_user(void **state)
{
    const pid_t device = start_device(victim);

    (void)state;
    assert_int_equal(test_as(stranger, open_there, NULL), 0);
    assert_int_equal(open_there(NULL), 0); /* root */
    end_device(device);
}

/* ---- folders ---- */

/* The places of folders, in their order; the last two are for user namespaces alone. */
static const char *const places[] = {"/dev/shm/oche-%u", "/tmp/oche-%u", "/dev/shm/oche-%u-%lu",
                                     "/tmp/oche-%u-%lu"};
enum { PLACES = OCHE_COUNT_OF(places) };
#define FIRST_USER_NAMESPACE 0xeffffffdu

static unsigned long user_namespace(void)
{
    struct stat about;

    assert_int_equal(stat("/proc/self/ns/user", &about), 0);
    return (unsigned long)about.st_ino;
}

static void place_of(unsigned place, char path[64])
{
    snprintf(path, 64, places[place], (unsigned)owner, user_namespace());
}

/* The thing in the place of the victim's folder. */
enum plant { PLANT_FOLDER, PLANT_PRIVATE, PLANT_LINK, PLANT_FILE, PLANT_OPEN, PLANTS };

static void put(unsigned place, enum plant plant)
{
    char path[64], target[80];

    place_of(place, path);
    snprintf(target, sizeof(target), "%s-elsewhere", path);
    if (plant == PLANT_FILE) {
        close(open(path, O_CREAT | O_WRONLY | O_EXCL, 0777));
    } else if (plant == PLANT_LINK) { /* to a folder of the victim's own, which would do */
        assert_int_equal(mkdir(target, 0700), 0);
        assert_int_equal(chown(target, victim, victim), 0);
        assert_int_equal(symlink(target, path), 0);
    } else {
        assert_int_equal(mkdir(path, 0777), 0);
    }
    if (plant == PLANT_OPEN) { /* the victim's, but others can write there */
        assert_int_equal(chown(path, victim, victim), 0);
        assert_int_equal(chmod(path, 0770), 0);
    } else {
        assert_int_equal(lchown(path, stranger, stranger), 0);
        if (plant == PLANT_FOLDER || plant == PLANT_PRIVATE)
            assert_int_equal(chmod(path, plant == PLANT_FOLDER ? 0777 : 0700), 0);
    }
}

static void clear(unsigned place)
{
    char path[64], command[160];

    place_of(place, path);
    snprintf(command, sizeof(command), "rm -rf '%s' '%s-elsewhere'", path, path);
    assert_int_equal(system(command), 0);
}

static int opens_in(void *context)
{
    const unsigned *place = context;
    char path[64];
    struct end end;

    place_of(*place, path);
    end_open(&end, &shared, board->address, 0);
    const bool right = end.device->share.fd >= 0 &&
                       strncmp(end.device->share.names.path, path, strlen(path)) == 0 &&
                       end.device->share.names.path[strlen(path)] == '/';
    end_close(&end);
    return right ? 0 : 1;
}

/* A victim that can access any folder, like root. */
static int opens_with_all_rights(void *context)
{
    if (prctl(PR_SET_SECUREBITS, SECBIT_NO_SETUID_FIXUP) != 0)
        return 50;
    test_become(victim);
    return opens_in(context);
}

/* A folder that the user alone can get at, or the next place. */
static void planted_folders(void **state)
{
    unsigned place = 0;

    (void)state;
    loopback_address(board->address, 1);
    assert_int_equal(test_as(victim, opens_in, &place), 0);
    clear(0);
    place = 1;
    for (enum plant plant = 0; plant < PLANTS; plant++) {
        put(0, plant);
        assert_int_equal(test_as(victim, opens_in, &place), 0);
        assert_int_equal(test_as(0, opens_with_all_rights, &place), 0);
        clear(0);
        clear(1);
    }
}

/* One device is alone, the next one is refused with a line. */
static int opens_alone(void *context)
{
    struct oche_device_config config = shared;
    struct oche_error error;
    const bool in_namespace = user_namespace() != FIRST_USER_NAMESPACE;
    struct end a, b;
    char path[64];

    (void)context;
    end_open(&a, &shared, board->address, 0);
    end_open(&b, &shared, board->inbox, 0); /* another address */
    if (a.device->share.fd >= 0)
        return 1;
    ends_connect(&a, &b, OCHE_TRANSPORT_RC, 1024);
    const struct oche_send_work work = work_between(&a, &b, OCHE_WORK_WRITE, 0, 40000);
    struct pair pair = {.a = a, .b = b};
    if (oche_device_post_send(a.device, a.qp, &work) != 0 ||
        pump(&pair, &a).status != OCHE_STATUS_SUCCESS)
        return 2;
    if (!oche_device_take_service(a.device, SERVICE) ||
        oche_device_service_taken(b.device, SERVICE))
        return 3;
    config.address = board->address;
    if (oche_device_open(&config, &error) != NULL || errno != EADDRINUSE)
        return 4;
    for (unsigned place = 0; place < (in_namespace ? PLACES : 2); place++) {
        place_of(place, path);
        if (strstr(error.text, path) == NULL)
            return 5;
    }
    end_close(&a);
    end_close(&b);
    return strchr(error.text, '\n') == NULL ? 0 : 6;
}

static void no_folder_at_all(void **state)
{
    (void)state;
    loopback_address(board->address, 1);
    loopback_address(board->inbox, 2);
    for (unsigned place = 0; place < PLACES; place++)
        put(place, place % 2 == 0 ? PLANT_FOLDER : PLANT_LINK);
    assert_int_equal(test_as(victim, opens_alone, NULL), 0);
    for (unsigned place = 0; place < PLACES; place++)
        clear(place);
}

static bool write_map(const char *path, uid_t inside)
{
    const int file = open(path, O_WRONLY | O_CLOEXEC);
    char text[40];
    const int bytes = snprintf(text, sizeof(text), "%u %u 1", (unsigned)inside, (unsigned)victim);
    const bool written = file >= 0 && write(file, text, (size_t)bytes) == bytes;

    if (file >= 0)
        close(file);
    return written;
}

#define NO_NAMESPACES 77

/* The victim, with another number in a user namespace. */
static int opens_in_namespace(void *context)
{
    struct stat about;
    struct end end;
    char path[96];

    (void)context;
    if (prctl(PR_SET_DUMPABLE, 1) != 0 || unshare(CLONE_NEWUSER) != 0 ||
        !write_map("/proc/self/uid_map", owner) || stat("/proc/self/ns/user", &about) != 0)
        return NO_NAMESPACES;
    snprintf(path, sizeof(path), "/dev/shm/oche-%u-%lu/", (unsigned)owner,
             (unsigned long)about.st_ino);
    end_open(&end, &shared, board->address, 0);
    const bool right =
        end.device->share.fd >= 0 && strncmp(end.device->share.names.path, path, strlen(path)) == 0;
    end_close(&end);
    *strrchr(path, '/') = '\0';
    return rmdir(path) == 0 && right ? 0 : 1;
}

/* Users with the same number in different namespaces have a folder each. */
static void user_namespaces(void **state)
{
    int status;

    (void)state;
    loopback_address(board->address, 1);
    owner = stranger + 1;
    put(0, PLANT_FOLDER);
    put(1, PLANT_FOLDER);
    status = test_as(victim, opens_in_namespace, NULL);
    clear(0);
    clear(1);
    owner = victim;
    if (status == NO_NAMESPACES) {
        print_message("SKIPPED: this user may not have a user namespace\n");
        skip();
    }
    assert_int_equal(status, 0);
}

/* A planted thing is removed: processes that met in the next place still meet there. */
static void a_plant_that_goes(void **state)
{
    unsigned place = 1;
    pid_t device;

    (void)state;
    put(0, PLANT_FOLDER);
    device = start_device(victim);
    clear(0);
    assert_int_equal(test_as(victim, opens_in, &place), 0);
    end_device(device);
    clear(1);
}

/* ---- views ---- */

static int write_view(void *context)
{
    struct oche_view_writer *writer = oche_view_writer_open(NULL);
    struct oche_view *view;

    (void)context;
    if (writer == NULL)
        return 1;
    view = oche_view_writer_view(writer);
    view->pid = (uint32_t)getpid();
    oche_view_writer_write(writer);
    board->open = true;
    while (!board->over)
        usleep(1000);
    oche_view_writer_close(writer);
    return 0;
}

/* Returns how many views there are in a folder, or in all that the user looks at. */
static int sees_views_in(void *folder)
{
    struct oche_views views;
    int seen;

    if (!oche_views_read(&views, folder))
        return 50;
    seen = (int)(views.count + views.unreadable + views.other_versions);
    oche_views_free(&views);
    return seen;
}

static int sees_views(void *context)
{
    (void)context;
    return sees_views_in(NULL);
}

static int opens_folder(void *context)
{
    struct oche_view_writer *writer = oche_view_writer_open(context);

    return writer != NULL;
}

/* Root's file in a victim's folder does not count as the victim's, and is not removed. */
static void check_roots_file(const char *folder)
{
    char name[OCHE_VIEW_NAME_BYTES], path[128];

    oche_view_name(name, 1, 4);
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    close(open(path, O_WRONLY | O_CREAT, 0600));
    assert_int_equal(test_as(0, sees_views_in, (void *)(uintptr_t)folder), 0);
    assert_int_equal(access(path, F_OK), 0);
    assert_int_equal(unlink(path), 0);
}

/* A user sees its own views alone, and writes none into a folder of another user's. */
static void views_of_others(void **state)
{
    char path[64];
    pid_t child;

    (void)state;
    *board = (struct board){0};
    child = fork();
    if (child == 0)
        _exit(test_as(victim, write_view, NULL));
    for (unsigned tries = 0; tries < 5000 && !board->open; tries++)
        usleep(1000);
    assert_int_equal(test_as(victim, sees_views, NULL), 1);
    assert_int_equal(test_as(stranger, sees_views, NULL), 0);
    place_of(0, path);
    end_device(child);
    check_roots_file(path);
    clear(0);
    put(0, PLANT_FOLDER);
    assert_int_equal(test_as(victim, opens_folder, path), 0);
    assert_int_equal(test_as(stranger, opens_folder, path), 0); /* it is open to others */
    clear(0);
}

/* ---- users of one process ---- */

/* A device in a process whose users, real and effective, are these; until it is killed. */
static pid_t start_other(const char *address, uid_t real, uid_t effective)
{
    const pid_t pid = fork();

    if (pid == 0) {
        struct end end;

        if (setresuid(real, effective, effective) != 0)
            _exit(1);
        alarm(60);
        end_open(&end, &shared, address, 1);
        for (;;)
            oche_device_progress(end.device);
    }
    return pid;
}

static int meets_other(void *context)
{
    const uid_t *users = context; /* real, effective, and the other one's real */
    const pid_t other = start_other(board->address, users[2], users[1]);
    bool trusted = false;
    struct end end;
    uint64_t refused;

    usleep(50000);
    if (setresuid(users[0], users[1], 0) != 0)
        return 50;
    end_open(&end, &shared, board->address, 1);
    for (unsigned tries = 0; tries < 500 && !trusted; tries++) {
        oche_device_progress(end.device);
        for (unsigned slot = 0; slot < OCHE_SLOTS; slot++)
            trusted |= end.device->share.neighbours[slot].trusted;
        usleep(1000);
    }
    refused = end.device->share.refused;
    end_close(&end);
    if (setresuid(0, 0, 0) != 0 || kill(other, SIGKILL) != 0 || waitpid(other, NULL, 0) != other)
        return 51;
    return trusted && refused == 0 ? 0 : 1;
}

/* The effective user counts, even if the real one is another. */
static void effective_users(void **state)
{
    const uid_t more = stranger + 1;
    const uid_t cases[][3] = {{victim, victim, victim},
                              {victim, victim, stranger},
                              {stranger, victim, victim},
                              {stranger, victim, more}};

    (void)state;
    for (size_t i = 0; i < OCHE_COUNT_OF(cases); i++) {
        loopback_address(board->address, 1 + (unsigned)i);
        assert_int_equal(test_as(0, meets_other, (void *)(uintptr_t)cases[i]), 0);
    }
    clear(0);
}

static int clear_all(void **state)
{
    const uid_t users[] = {victim, stranger, stranger + 1, 0};

    (void)state;
    for (size_t i = 0; i < OCHE_COUNT_OF(users); i++)
        for (unsigned place = users[i] == 0 ? 2 : 0; place < PLACES; place++) {
            owner = users[i];
            clear(place);
        }
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(inboxes_are_shut),        cmocka_unit_test(messages_of_others),
        cmocka_unit_test(an_address_has_one_user), cmocka_unit_test(planted_folders),
        cmocka_unit_test(no_folder_at_all),        cmocka_unit_test(a_plant_that_goes),
        cmocka_unit_test(user_namespaces),         cmocka_unit_test(views_of_others),
        cmocka_unit_test(effective_users),
    };

    if (!test_may_be_others())
        return 77;
    victim = test_user(0);
    stranger = test_user(1);
    owner = victim;
    board = mmap(NULL, sizeof(*board), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (board == MAP_FAILED)
        return 1;
    umask(0); /* rights must not depend on it */
    return cmocka_run_group_tests(tests, NULL, clear_all);
}
