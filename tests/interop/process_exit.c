/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program that process_exit.py ends by signals: it writes from a queue pair to another, over and
 * over, and says how many WRITEs are done. usage: endings HOW [ADDRESS], which is a second
 * device's.
 */
#include "tests/interop/verbs_bench.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define TOLD    100 /* WRITEs between two lines */
#define THREADS 4

static volatile sig_atomic_t asked;
static const char *how;

static bool is(const char *name)
{
    return strcmp(how, name) == 0;
}

/* ---- handlers ---- */

static void handle(int number)
{
    if (is("_exit"))
        _exit(5);
    if (is("_Exit"))
        _Exit(6);
    if (is("quick_exit"))
        quick_exit(7);
    if (is("exit"))
        exit(8); /* not allowed in a handler, but some programs do it */
    if (is("again")) {
        signal(number, SIG_DFL);
        raise(number);
    }
    if (is("once")) /* the second signal ends the program */
        raise(number);
    asked = 1;
}

/* The program is shown what it has set, and nothing else. */
static void check_shown(void)
{
    struct sigaction shown;

    assert_int_equal(sigaction(SIGINT, NULL, &shown), 0);
    assert_true(shown.sa_handler == SIG_DFL && shown.sa_flags == 0);
    assert_true(signal(SIGINT, SIG_IGN) == SIG_DFL);
    assert_true(signal(SIGINT, handle) == SIG_IGN);
    assert_true(signal(SIGINT, SIG_DFL) == handle);
    assert_true(signal(SIGINT, SIG_DFL) == SIG_DFL);
}

static void install(void)
{
    struct sigaction action = {.sa_handler = handle};

    if (is("default") || is("threads") || is("forked") || is("shown") || is("spawns"))
        return;
    sigemptyset(&action.sa_mask);
    if (is("once"))
        action.sa_flags = (int)SA_RESETHAND;
    if (is("ignored"))
        action.sa_handler = SIG_IGN;
    assert_int_equal(sigaction(SIGINT, &action, NULL), 0);
    assert_int_equal(sigaction(SIGINT, NULL, &action), 0);
    assert_true(action.sa_handler == (is("ignored") ? SIG_IGN : handle));
    assert_int_equal((action.sa_flags & (int)SA_RESETHAND) != 0, is("once"));
}

/* ---- work ---- */

static void say(unsigned done)
{
    char line[32];
    const int length = snprintf(line, sizeof(line), "%u\n", done);

    if (write(STDOUT_FILENO, line, (size_t)length) < 0)
        exit(1);
}

static void *work(void *argument)
{
    struct bench *bench = argument;
    struct end *a = &bench->end[0];
    struct ibv_sge sge = sge_of(a, 0, 3000);
    struct ibv_send_wr wr = remote(IBV_WR_RDMA_WRITE, 1, &sge, &bench->end[1], 0);
    struct ibv_wc wc;

    for (unsigned done = 1; !asked; done++) {
        int count;

        post(a, &wr);
        while ((count = ibv_poll_cq(a->cq, 1, &wc)) == 0)
            continue;
        if (count < 0 || wc.status != IBV_WC_SUCCESS)
            exit(99);
        if (done % TOLD == 0)
            say(TOLD);
    }
    return NULL;
}

/* Starts a forked process with a copy of the device. It gets the signal as well. */
static void fork_one(void)
{
    const pid_t pid = fork();

    if (pid == 0) {
        check_shown();
        for (;;)
            pause();
    }
    assert_true(pid > 0);
}

/* Starts other programs; our library must not change how they start or end. */
static void spawn(void)
{
    int status;
    const pid_t pid = vfork();

    if (pid == 0) {
        execl("/nonexistent", "nonexistent", NULL);
        _exit(44);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(WEXITSTATUS(status), 44);
    assert_int_equal(system("kill -INT $$"), SIGINT);
}

int main(int count, char **words)
{
    pthread_t threads[THREADS];
    struct bench *bench, *second = NULL;

    how = words[1];
    if (is("once") || is("_exit")) /* these two before there is a device; the others after it */
        install();
    bench = open_bench(IBV_QPT_RC, IBV_MTU_1024, NULL);
    if (count > 2) {
        setenv("OCHE_DEVICE", words[2], 1);
        second = open_bench(IBV_QPT_RC, IBV_MTU_1024, NULL);
        assert_int_equal(pthread_create(&threads[0], NULL, work, second), 0);
    }
    if (!is("once") && !is("_exit"))
        install();
    if (is("shown"))
        check_shown();
    if (is("forked"))
        fork_one();
    if (is("spawns"))
        spawn();
    if (is("threads")) {
        struct bench *own;

        for (unsigned i = 0; i < THREADS; i++) {
            own = open_bench(IBV_QPT_RC, IBV_MTU_1024, NULL);
            assert_int_equal(pthread_create(&threads[i], NULL, work, own), 0);
        }
    }
    work(bench);
    if (second != NULL)
        pthread_join(threads[0], NULL);
    return 3;
}
