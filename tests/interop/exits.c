/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two programs. One ends at once, in a way of its choice, and destroys nothing. The other must get
 * everything that an adapter would have sent by then.
 *
 * usage: exits serve PORT        serves clients until its input ends; a line for each: "ok", or why
 *        exits HOW PORT ROUNDS   is a client, which ends after so many rounds of a ping-pong
 *
 * HOW is in the table `ways`, with what the two do after the ping-pong.
 */
#include <arpa/inet.h>
#include <infiniband/verbs.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define BYTES    64
#define MESSAGES 8  /* posted, or not yet read, at the end */
#define LIMIT_S  20 /* for a completion; ours come within the ACK timeout and its retries */
#define QKEY     0x11111111
#define MEMORY   4096

extern char **environ;

/* The message by which the two ends connect. */
struct end {
    union ibv_gid gid;
    uint64_t va;
    uint32_t rkey, qpn, rounds, last, type;
    pid_t pid;
};

/* The client's last action, after the ping-pong. */
enum last {
    NOTHING,  /* the client ends with its last receive */
    POSTED,   /* posts messages, and ends */
    UNMAPPED, /* posts messages, unmaps their memory, and ends: with these messages sent or not */
    UNREAD,   /* messages and READs arrive while it does not poll, and it ends */
    KILLED,   /* the program pauses, and the server sends it SIGTERM at once */
};

struct way {
    const char *name;
    enum last last;
    enum ibv_qp_type type;
    void (*leave)(void); /* called to end, and does not return; NULL: main returns */
};

static struct ibv_context *context;
static struct ibv_pd *pd;
static struct ibv_mr *mr;
static struct ibv_cq *cq;
static struct ibv_qp *own_qp; /* the client's */
static uint8_t *memory;       /* MEMORY bytes */
static const struct way *way;
static _Atomic bool others_poll;

static void need(bool truth, const char *what)
{
    if (truth)
        return;
    perror(what);
    _exit(99);
}

/* ---- ways to end ---- */

static void leave_by_exit(void)
{
    exit(0);
}

static void leave_by__exit(void)
{
    _exit(0);
}

static void leave_by__Exit(void)
{
    _Exit(0);
}

static void leave_by_quick_exit(void)
{
    quick_exit(0);
}

static void *exit_in_thread(void *unused)
{
    (void)unused;
    exit(0);
}

static void leave_in_thread(void)
{
    pthread_t thread;

    need(pthread_create(&thread, NULL, exit_in_thread, NULL) == 0, "a thread");
    for (;;)
        pause();
}

static void poll_for_ever(void)
{
    struct ibv_wc wc;

    for (;;)
        ibv_poll_cq(cq, 1, &wc);
}

/* Afterwards the library's own thread leaves the work to the program, for a millisecond at least.
 */
static void poll_a_while(void)
{
    struct ibv_wc wc;
    struct timespec begun, now;

    clock_gettime(CLOCK_MONOTONIC, &begun);
    do {
        ibv_poll_cq(cq, 1, &wc);
        clock_gettime(CLOCK_MONOTONIC, &now);
    } while (now.tv_sec == begun.tv_sec && now.tv_nsec < begun.tv_nsec + 5000000);
}

static void *poll_on(void *unused)
{
    atomic_store(&others_poll, true);
    poll_for_ever();
    return unused;
}

/* Another thread is inside the library, most of the time with its lock. */
static void leave_beside_a_poller(void)
{
    pthread_t thread;

    need(pthread_create(&thread, NULL, poll_on, NULL) == 0, "a thread");
    while (!atomic_load(&others_poll))
        continue;
    exit(0);
}

static void exit_in_handler(int number)
{
    (void)number;
    exit(0);
}

static void leave_in_handler(void)
{
    signal(SIGTERM, exit_in_handler);
    raise(SIGTERM);
}

static void _exit_in_handler(int number)
{
    (void)number;
    _exit(0);
}

/* The handler mostly interrupts the library and never returns to it. */
static void leave_by_timer(void (*handler)(int number))
{
    const struct itimerval soon = {.it_value = {.tv_usec = 3000}};

    signal(SIGALRM, handler);
    setitimer(ITIMER_REAL, &soon, NULL);
    poll_for_ever();
}

static void leave_by_timer_and_exit(void)
{
    leave_by_timer(exit_in_handler);
}

static void leave_by_timer_and__exit(void)
{
    leave_by_timer(_exit_in_handler);
}

static void leave_by_timer_alone(void)
{
    leave_by_timer(SIG_DFL);
}

static void again(int number)
{
    signal(number, SIG_DFL);
    raise(number);
}

static void leave_by_own_handler(void)
{
    signal(SIGTERM, again);
    raise(SIGTERM);
}

static void leave_by_sigterm(void)
{
    raise(SIGTERM);
}

static void leave_by_sigint(void)
{
    kill(getpid(), SIGINT);
    for (;;)
        pause();
}

/* All but the last held ACK's time is over. */
static void leave_by_sigkill_later(void)
{
    const struct timespec time = {.tv_nsec = 100000000};

    nanosleep(&time, NULL);
    raise(SIGKILL);
}

static void leave_by_sigkill(void)
{
    raise(SIGKILL);
}

static void leave_by_execv(void)
{
    execv("/bin/true", (char *[]){(char *)"true", NULL});
}

static void leave_by_execve(void)
{
    execve("/bin/true", (char *[]){(char *)"true", NULL}, environ);
}

static void leave_by_execvp(void)
{
    execvp("true", (char *[]){(char *)"true", NULL});
}

static void leave_by_execl(void)
{
    execl("/bin/sh", "sh", "-c", "exit $(($1 - $2))", "sh", "7", "7", (char *)NULL);
}

static void leave_by_execlp(void)
{
    execlp("true", "true", (char *)NULL);
}

static void leave_by_execle(void)
{
    execle("/bin/sh", "sh", "-c", "exit $STATUS", (char *)NULL,
           (char *[]){(char *)"STATUS=0", NULL});
}

static void leave_after_failed_exec(void)
{
    execl("/nonexistent", "nonexistent", (char *)NULL);
    exit(0);
}

/* A forked child has a copy of everything, and ends first. */
static void leave_after_child(void)
{
    const pid_t pid = fork();
    int status;

    if (pid == 0)
        exit(0);
    need(waitpid(pid, &status, 0) == pid && WEXITSTATUS(status) == 0, "the child");
}

static void leave_after_vforked_child(void)
{
    const pid_t pid = vfork();
    int status;

    if (pid == 0) {
        execl("/nonexistent", "nonexistent", (char *)NULL);
        _exit(7);
    }
    need(waitpid(pid, &status, 0) == pid && WEXITSTATUS(status) == 7, "the child");
}

static void leave_after_destroy(void)
{
    need(ibv_destroy_qp(own_qp) == 0, "ibv_destroy_qp");
}

static void leave_after_close(void)
{
    ibv_close_device(context); /* leaves its objects */
}

static const struct way ways[] = {
    {"return", NOTHING, IBV_QPT_RC, NULL},
    {"exit", NOTHING, IBV_QPT_RC, leave_by_exit},
    {"thread", NOTHING, IBV_QPT_RC, leave_in_thread},
    {"beside", NOTHING, IBV_QPT_RC, leave_beside_a_poller},
    {"handler", NOTHING, IBV_QPT_RC, leave_in_handler},
    {"quick_exit", NOTHING, IBV_QPT_RC, leave_by_quick_exit},
    {"_exit", NOTHING, IBV_QPT_RC, leave_by__exit},
    {"_Exit", NOTHING, IBV_QPT_RC, leave_by__Exit},
    {"term", NOTHING, IBV_QPT_RC, leave_by_sigterm},
    {"int", NOTHING, IBV_QPT_RC, leave_by_sigint},
    {"again", NOTHING, IBV_QPT_RC, leave_by_own_handler},
    {"killed", KILLED, IBV_QPT_RC, NULL},
    {"timer-exit", NOTHING, IBV_QPT_RC, leave_by_timer_and_exit},
    {"timer-_exit", NOTHING, IBV_QPT_RC, leave_by_timer_and__exit},
    {"timer", NOTHING, IBV_QPT_RC, leave_by_timer_alone},
    {"kill", NOTHING, IBV_QPT_RC, leave_by_sigkill},
    {"kill-later", NOTHING, IBV_QPT_RC, leave_by_sigkill_later},
    {"execv", NOTHING, IBV_QPT_RC, leave_by_execv},
    {"execve", NOTHING, IBV_QPT_RC, leave_by_execve},
    {"execvp", NOTHING, IBV_QPT_RC, leave_by_execvp},
    {"execl", NOTHING, IBV_QPT_RC, leave_by_execl},
    {"execlp", NOTHING, IBV_QPT_RC, leave_by_execlp},
    {"execle", NOTHING, IBV_QPT_RC, leave_by_execle},
    {"no-exec", NOTHING, IBV_QPT_RC, leave_after_failed_exec},
    {"fork", NOTHING, IBV_QPT_RC, leave_after_child},
    {"vfork", NOTHING, IBV_QPT_RC, leave_after_vforked_child},
    {"gone", NOTHING, IBV_QPT_RC, NULL}, /* the thread that has used the queue pair has ended */
    {"close", NOTHING, IBV_QPT_RC, leave_after_close},
    {"unread", UNREAD, IBV_QPT_RC, NULL},
    {"unread-destroy", UNREAD, IBV_QPT_RC, leave_after_destroy},
    {"unread-term", UNREAD, IBV_QPT_RC, leave_by_sigterm},
    {"posted-rc", POSTED, IBV_QPT_RC, NULL},
    {"posted-uc", POSTED, IBV_QPT_UC, NULL},
    {"posted-ud", POSTED, IBV_QPT_UD, NULL},
    {"unmapped", UNMAPPED, IBV_QPT_RC, NULL},
    {"posted-ud-destroy", POSTED, IBV_QPT_UD, leave_after_destroy},
    {"posted-ud-_exit", POSTED, IBV_QPT_UD, leave_by__exit},
};

/* ---- verbs ---- */

static void open_device(void)
{
    struct ibv_device **devices = ibv_get_device_list(NULL);

    need(devices != NULL && devices[0] != NULL, "a device");
    context = ibv_open_device(devices[0]);
    need(context != NULL, "ibv_open_device");
    ibv_free_device_list(devices);
    pd = ibv_alloc_pd(context);
    memory = mmap(NULL, MEMORY, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    need(memory != MAP_FAILED, "mmap");
    mr = ibv_reg_mr(pd, memory, MEMORY, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ);
    cq = ibv_create_cq(context, 64, NULL, NULL, 0);
    need(pd != NULL && mr != NULL && cq != NULL, "objects");
}

static struct ibv_qp *make_qp(uint32_t type)
{
    struct ibv_qp_init_attr attr = {.send_cq = cq,
                                    .recv_cq = cq,
                                    .qp_type = (enum ibv_qp_type)type,
                                    .cap = {.max_send_wr = 2 * MESSAGES,
                                            .max_recv_wr = 2 * MESSAGES,
                                            .max_send_sge = 1,
                                            .max_recv_sge = 1}};
    struct ibv_qp *qp = ibv_create_qp(pd, &attr);

    need(qp != NULL, "ibv_create_qp");
    return qp;
}

static void connect_qp(struct ibv_qp *qp, const struct end *peer)
{
    const bool ud = qp->qp_type == IBV_QPT_UD, rc = qp->qp_type == IBV_QPT_RC;
    struct ibv_qp_attr init = {.qp_state = IBV_QPS_INIT,
                               .port_num = 1,
                               .qkey = QKEY,
                               .qp_access_flags = IBV_ACCESS_REMOTE_READ};
    struct ibv_qp_attr rtr = {.qp_state = IBV_QPS_RTR,
                              .path_mtu = IBV_MTU_1024,
                              .dest_qp_num = peer->qpn,
                              .max_dest_rd_atomic = 4,
                              .min_rnr_timer = 12,
                              .ah_attr = {.is_global = 1, .port_num = 1, .grh.dgid = peer->gid}};
    struct ibv_qp_attr rts = {
        .qp_state = IBV_QPS_RTS, .timeout = 14, .retry_cnt = 7, .rnr_retry = 7, .max_rd_atomic = 4};

    need(ibv_modify_qp(qp, &init,
                       IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
                           (ud ? IBV_QP_QKEY : IBV_QP_ACCESS_FLAGS)) == 0 &&
             ibv_modify_qp(
                 qp, &rtr,
                 IBV_QP_STATE |
                     (ud ? 0 : IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN) |
                     (rc ? IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER : 0)) == 0 &&
             ibv_modify_qp(qp, &rts,
                           IBV_QP_STATE | IBV_QP_SQ_PSN |
                               (rc ? IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
                                         IBV_QP_MAX_QP_RD_ATOMIC
                                   : 0)) == 0,
         "ibv_modify_qp");
}

static void receive(struct ibv_qp *qp)
{
    struct ibv_sge sge = {(uintptr_t)memory, BYTES + 40, mr->lkey};
    struct ibv_recv_wr wr = {.sg_list = &sge, .num_sge = 1}, *bad;

    need(ibv_post_recv(qp, &wr, &bad) == 0, "ibv_post_recv");
}

/* Posts a SEND, or a READ of the peer's memory. With `to`: a datagram. */
static void post(struct ibv_qp *qp, const struct end *read_from, struct ibv_ah *to, uint32_t qpn)
{
    struct ibv_sge sge = {(uintptr_t)memory + BYTES + 40, BYTES, mr->lkey};
    struct ibv_send_wr wr = {.sg_list = &sge,
                             .num_sge = 1,
                             .opcode = read_from != NULL ? IBV_WR_RDMA_READ : IBV_WR_SEND,
                             .send_flags = IBV_SEND_SIGNALED},
                       *bad;

    if (read_from != NULL) {
        wr.wr.rdma.remote_addr = read_from->va;
        wr.wr.rdma.rkey = read_from->rkey;
    }
    if (to != NULL) {
        wr.wr.ud.ah = to;
        wr.wr.ud.remote_qpn = qpn;
        wr.wr.ud.remote_qkey = QKEY;
    }
    need(ibv_post_send(qp, &wr, &bad) == 0, "ibv_post_send");
}

static unsigned completed; /* completions that the program has not waited for yet */

/* Polls once. Returns what is wrong, or NULL. */
static const char *poll_once(void)
{
    struct ibv_wc wc;
    const int polled = ibv_poll_cq(cq, 1, &wc);

    need(polled >= 0, "ibv_poll_cq");
    completed += (unsigned)polled;
    return polled > 0 && wc.status != IBV_WC_SUCCESS ? ibv_wc_status_str(wc.status) : NULL;
}

/* Waits for so many completions. Returns what is wrong, or NULL. */
static const char *complete(unsigned count)
{
    const time_t end = time(NULL) + LIMIT_S;
    const char *wrong;

    while (completed < count) {
        if ((wrong = poll_once()) != NULL)
            return wrong;
        if (time(NULL) > end)
            return "nothing has come";
    }
    completed -= count;
    return NULL;
}

/* ---- the two ---- */

/* Messages of the connection beside must not wait for each other. */
static void hasten(int fd)
{
    const int one = 1;

    need(setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one)) == 0, "TCP_NODELAY");
}

/* Swaps the sides' data. Each waits here for the other. */
static void swap(int fd, const struct end *mine, struct end *theirs)
{
    need(write(fd, mine, sizeof(*mine)) == sizeof(*mine), "write");
    need(recv(fd, theirs, sizeof(*theirs), MSG_WAITALL) == sizeof(*theirs), "recv");
}

static void say(int fd)
{
    need(write(fd, "", 1) == 1, "write");
}

static void hear(int fd)
{
    char byte;

    need(recv(fd, &byte, 1, MSG_WAITALL) == 1, "recv");
}

static struct end own_end(const struct ibv_qp *qp)
{
    struct end own = {.qpn = qp->qp_num,
                      .va = (uintptr_t)memory,
                      .rkey = mr->rkey,
                      .pid = getpid(),
                      .type = qp->qp_type};

    need(ibv_query_gid(context, 1, 0, &own.gid) == 0, "ibv_query_gid");
    return own;
}

static const char *serve_last(int fd, struct ibv_qp *qp, const struct end *client)
{
    const char *wrong = NULL;

    switch ((enum last)client->last) {
    case KILLED:
        hear(fd);
        kill(client->pid, SIGTERM);
        return NULL;
    case POSTED:
        return complete(MESSAGES);
    case UNREAD:
        hear(fd);
        for (unsigned i = 0; i < MESSAGES; i++)
            post(qp, i % 2 ? client : NULL, NULL, 0);
        /* these polls send the posted messages */
        for (unsigned i = 0; i < 10 && wrong == NULL; i++)
            wrong = poll_once();
        say(fd);
        return wrong != NULL ? wrong : complete(MESSAGES);
    default:
        return NULL;
    }
}

/* Returns what is wrong, or NULL. */
static const char *serve_one(int fd)
{
    struct end client, mine = {0};
    struct ibv_qp *qp;
    const char *wrong = NULL;

    completed = 0;
    hasten(fd);
    need(recv(fd, &client, sizeof(client), MSG_WAITALL) == sizeof(client), "recv");
    qp = make_qp(client.type);
    mine = own_end(qp);
    need(write(fd, &mine, sizeof(mine)) == sizeof(mine), "write");
    connect_qp(qp, &client);
    for (unsigned i = 0; i < MESSAGES + 1; i++)
        receive(qp);
    say(fd);
    hear(fd);
    for (uint32_t round = 0; round < client.rounds && wrong == NULL; round++) {
        /* the message, and from the second one on the answer before it has been acknowledged */
        wrong = complete(1 + (round > 0));
        receive(qp);
        post(qp, NULL, NULL, 0);
    }
    if (wrong == NULL && client.last != NOTHING)
        wrong = serve_last(fd, qp, &client);
    if (wrong == NULL && client.rounds > 0)
        wrong = complete(1);
    ibv_destroy_qp(qp);
    return wrong;
}

static void serve(const char *port)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons((uint16_t)atoi(port)),
                                  .sin_addr = {htonl(INADDR_LOOPBACK)}};
    const int listener = socket(AF_INET, SOCK_STREAM, 0), one = 1;
    struct pollfd fds[2] = {{.fd = STDIN_FILENO, .events = POLLIN},
                            {.fd = listener, .events = POLLIN}};

    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
    need(bind(listener, (struct sockaddr *)&address, sizeof(address)) == 0, "bind");
    need(listen(listener, 1) == 0, "listen");
    puts("listens");
    fflush(stdout);
    while (poll(fds, 2, -1) > 0 && fds[0].revents == 0) {
        const int fd = accept(listener, NULL, NULL);
        const char *wrong = serve_one(fd);

        close(fd);
        puts(wrong != NULL ? wrong : "ok");
        fflush(stdout);
    }
}

static void be_client(const char *port, uint32_t rounds)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons((uint16_t)atoi(port)),
                                  .sin_addr = {htonl(INADDR_LOOPBACK)}};
    const int fd = socket(AF_INET, SOCK_STREAM, 0);
    struct ibv_qp *qp = own_qp = make_qp(way->type);
    struct end mine = own_end(qp), server;
    struct ibv_ah *ah = NULL;

    mine.rounds = rounds;
    mine.last = way->last;
    need(connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0, "connect");
    hasten(fd);
    swap(fd, &mine, &server);
    connect_qp(qp, &server);
    for (unsigned i = 0; i < MESSAGES + 1; i++)
        receive(qp);
    if (way->type == IBV_QPT_UD) {
        struct ibv_ah_attr attr = {.is_global = 1, .port_num = 1, .grh.dgid = server.gid};

        need((ah = ibv_create_ah(pd, &attr)) != NULL, "ibv_create_ah");
    }
    say(fd);
    hear(fd);
    for (uint32_t round = 0; round < rounds; round++) {
        post(qp, NULL, NULL, 0);
        need(complete(2) == NULL, "a round");
        receive(qp);
    }
    if (way->last == KILLED) {
        say(fd);
        for (;;)
            pause();
    }
    if (way->last == UNREAD) {
        say(fd);
        hear(fd);
    }
    if (way->last == UNMAPPED)
        poll_a_while();
    for (unsigned i = 0; i < MESSAGES && (way->last == POSTED || way->last == UNMAPPED); i++)
        post(qp, NULL, ah, server.qpn);
    if (way->last == UNMAPPED)
        need(munmap(memory, MEMORY) == 0, "munmap");
}

struct task {
    const char *port;
    uint32_t rounds;
};

static void *be_client_in_thread(void *argument)
{
    const struct task *task = argument;

    be_client(task->port, task->rounds);
    return NULL;
}

int main(int count, char **words)
{
    struct task task;
    pthread_t thread;

    need(count >= 3, "usage: exits serve PORT | exits HOW PORT ROUNDS");
    open_device();
    if (strcmp(words[1], "serve") == 0) {
        serve(words[2]);
        return 0;
    }
    for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++)
        if (strcmp(ways[i].name, words[1]) == 0)
            way = &ways[i];
    need(way != NULL && count == 4, "a way to end, a port and a number of rounds");
    task = (struct task){.port = words[2], .rounds = (uint32_t)atoi(words[3])};
    if (strcmp(way->name, "gone") == 0) {
        need(pthread_create(&thread, NULL, be_client_in_thread, &task) == 0, "a thread");
        pthread_join(thread, NULL);
    } else {
        be_client(task.port, task.rounds);
    }
    if (way->leave != NULL)
        way->leave();
    return 0;
}
