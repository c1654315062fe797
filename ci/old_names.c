/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions that the headers of a new glibc, or static libraries built with it, take in the place
 * of older ones: strtol becomes __isoc23_strtol of glibc 2.38. The kit has its own, from the older
 * ones, to run with glibc 2.34. The difference is in numbers in base 2 (0b1), which nothing here
 * reads.
 *
 * It includes no header that declares one of them: the headers rename calls.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/random.h>

#define HIDDEN __attribute__((visibility("hidden")))

long old_strtol(const char *text, char **end, int base) __asm__("strtol");
unsigned long old_strtoul(const char *text, char **end, int base) __asm__("strtoul");
long long old_strtoll(const char *text, char **end, int base) __asm__("strtoll");
unsigned long long old_strtoull(const char *text, char **end, int base) __asm__("strtoull");
int old_vsscanf(const char *text, const char *format, va_list list) __asm__("__isoc99_vsscanf");

HIDDEN long __isoc23_strtol(const char *text, char **end, int base);
HIDDEN unsigned long __isoc23_strtoul(const char *text, char **end, int base);
HIDDEN long long __isoc23_strtoll(const char *text, char **end, int base);
HIDDEN unsigned long long __isoc23_strtoull(const char *text, char **end, int base);
HIDDEN int __isoc23_sscanf(const char *text, const char *format, ...);
HIDDEN uint32_t arc4random(void);

long __isoc23_strtol(const char *text, char **end, int base)
{
    return old_strtol(text, end, base);
}

unsigned long __isoc23_strtoul(const char *text, char **end, int base)
{
    return old_strtoul(text, end, base);
}

long long __isoc23_strtoll(const char *text, char **end, int base)
{
    return old_strtoll(text, end, base);
}

unsigned long long __isoc23_strtoull(const char *text, char **end, int base)
{
    return old_strtoull(text, end, base);
}

int __isoc23_sscanf(const char *text, const char *format, ...)
{
    va_list list;
    int count;

    va_start(list, format);
    count = old_vsscanf(text, format, list);
    va_end(list);
    return count;
}

/*
 * json-c takes the seed of its hash tables from it. The keys in them are ours, so a seed of 0 does
 * no harm where getrandom is refused.
 */
uint32_t arc4random(void)
{
    uint32_t number = 0;

    return getrandom(&number, sizeof(number), 0) == sizeof(number) ? number : 0;
}
