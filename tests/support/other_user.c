/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/support/other_user.h"

#include <grp.h>
#include <pwd.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define FIRST_USER 20000
#define USERS      40000 /* from the first on, three for each process */
#define ALL_USERS  65535 /* users that a user namespace must have beside root */

uid_t test_user(unsigned which)
{
    return FIRST_USER + (uid_t)(getpid() * 3 % USERS) + which;
}

void test_become(uid_t user)
{
    if (setgroups(0, NULL) != 0 || setresgid(user, user, user) != 0 ||
        setresuid(user, user, user) != 0)
        _exit(99);
}

int test_as(uid_t user, int (*what)(void *context), void *context)
{
    const pid_t child = fork();
    int status;

    if (child == 0) {
        alarm(60);
        test_become(user);
        prctl(PR_SET_PDEATHSIG, SIGKILL); /* if the test fails */
        _exit(what(context));
    }
    if (child < 0 || waitpid(child, &status, 0) != child)
        return 98;
    return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

static int nothing(void *context)
{
    (void)context;
    return 0;
}

/* Returns the first of the numbers that the file assigns to the user, or 0. */
static unsigned long numbers_of(const char *path)
{
    const struct passwd *entry = getpwuid(getuid());
    FILE *rows = fopen(path, "r");
    char row[256], name[128];
    unsigned long first, count, found = 0;

    while (rows != NULL && found == 0 && fgets(row, sizeof(row), rows) != NULL)
        if (sscanf(row, "%127[^:]:%lu:%lu", name, &first, &count) == 3 && count >= ALL_USERS &&
            ((entry != NULL && strcmp(name, entry->pw_name) == 0) ||
             strtoul(name, NULL, 10) == getuid()))
            found = first;
    if (rows != NULL)
        fclose(rows);
    return found;
}

/* Gives the process `pid` root and the users of `path`. */
static bool map(const char *program, const char *path, pid_t pid, unsigned own)
{
    char command[256];
    const unsigned long first = numbers_of(path);

    snprintf(command, sizeof(command), "%s %d 0 %u 1 1 %lu %d 2>/dev/null", program, (int)pid, own,
             first, ALL_USERS);
    return first != 0 && system(command) == 0;
}

/* Enters a user namespace. A child outside assigns its users. */
static bool enter_namespace(void)
{
    const unsigned user = getuid(), group = getgid();
    const pid_t pid = getpid();
    int entered[2], status = 1;
    char byte;
    pid_t child;

    if (pipe(entered) != 0 || (child = fork()) < 0)
        return false;
    if (child == 0) {
        close(entered[1]);
        _exit(read(entered[0], &byte, 1) != 1 || !map("newuidmap", "/etc/subuid", pid, user) ||
              !map("newgidmap", "/etc/subgid", pid, group));
    }
    close(entered[0]);
    const bool told = unshare(CLONE_NEWUSER) == 0 && write(entered[1], "", 1) == 1;
    close(entered[1]); /* the child fails without a message */
    return waitpid(child, &status, 0) == child && told && status == 0 && setresgid(0, 0, 0) == 0 &&
           setresuid(0, 0, 0) == 0;
}

bool test_may_be_others(void)
{
    if ((geteuid() == 0 || enter_namespace()) && test_as(test_user(0), nothing, NULL) == 0)
        return true;
    printf("SKIPPED: what other users can do: run it as root, or install uidmap and give this user "
           "%d numbers in /etc/subuid and /etc/subgid\n",
           ALL_USERS);
    return false;
}
