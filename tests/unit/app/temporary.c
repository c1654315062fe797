/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/app/temporary.h"

#include "tests/support/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char path[64];

const char *temporary_file(const char *text)
{
    int file;

    temporary_remove();
    strcpy(path, "/tmp/oche-test-XXXXXX");
    file = mkstemp(path);
    assert_true(file >= 0);
    assert_int_equal(write(file, text, strlen(text)), strlen(text));
    close(file);
    return path;
}

void temporary_remove(void)
{
    if (path[0] != '\0')
        unlink(path);
    path[0] = '\0';
}

void temporary_expect_error(const char *error, const char *rest)
{
    assert_int_equal(strncmp(error, path, strlen(path)), 0);
    assert_string_equal(error + strlen(path), rest);
}
