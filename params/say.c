/* SPDX-License-Identifier: Apache-2.0 */
/* A line to standard error; see say.h. */
#include "params/say.h"

#include <stdio.h>
#include <unistd.h>

void oche_say_line(const char *format, va_list arguments)
{
    char line[1024] = "oche: ";
    int length = vsnprintf(line + 6, sizeof(line) - 7, format, arguments);

    length = length < 0 ? 0 : length;
    length = length + 6 < (int)sizeof(line) - 2 ? length + 6 : (int)sizeof(line) - 2;
    line[length] = '\n';
    if (write(STDERR_FILENO, line, (size_t)length + 1) < 0)
        return;
}
