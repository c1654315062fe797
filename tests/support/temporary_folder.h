/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A folder of the test's own, made and removed by cmocka's set-up and tear-down. `path` is that of
 * TEST_FILE in it, which the test defines.
 */
#ifndef OCHE_TESTS_SUPPORT_TEMPORARY_FOLDER_H
#define OCHE_TESTS_SUPPORT_TEMPORARY_FOLDER_H

#include <stdio.h>
#include <stdlib.h>

static char folder[64], path[96];

static int make_folder(void **state)
{
    (void)state;
    snprintf(folder, sizeof(folder), "/tmp/oche-test-XXXXXX");
    if (mkdtemp(folder) == NULL)
        return -1;
    snprintf(path, sizeof(path), "%s/" TEST_FILE, folder);
    return 0;
}

static int remove_folder(void **state)
{
    char command[128];

    (void)state;
    snprintf(command, sizeof(command), "rm -r %s", folder);
    return system(command);
}

#endif
