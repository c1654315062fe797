/* SPDX-License-Identifier: Apache-2.0 */
/* An input as a list of actions, and as a file. */
#ifndef OCHE_TESTS_FUZZ_INPUT_H
#define OCHE_TESTS_FUZZ_INPUT_H

#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* The rest of an input. Beyond its end all bytes are 0. */
struct fuzz_input {
    const uint8_t *at;
    size_t left;
};

static inline uint8_t fuzz_byte(struct fuzz_input *input)
{
    if (input->left == 0)
        return 0;
    input->left--;
    return *input->at++;
}

/* Big-endian, so that an input is easy to read. */
static inline uint64_t fuzz_number(struct fuzz_input *input, unsigned bytes)
{
    uint64_t number = 0;

    while (bytes-- > 0)
        number = number << 8 | fuzz_byte(input);
    return number;
}

/* Returns the next bytes, at most `most`, and writes their number. */
static inline const uint8_t *fuzz_bytes(struct fuzz_input *input, size_t most, size_t *count)
{
    const uint8_t *bytes = input->at;

    *count = most < input->left ? most : input->left;
    input->at += *count;
    input->left -= *count;
    return bytes;
}

/*
 * Makes the input a file in memory, always the same one. Returns its path. `name` is a short name
 * of the file, as several can be open.
 */
static inline const char *fuzz_file(const char *name, const uint8_t *bytes, size_t count)
{
    static struct {
        const char *name;
        int file;
        char path[32];
    } files[4];
    size_t i = 0;

    while (files[i].name != NULL && strcmp(files[i].name, name) != 0)
        i++;
    if (files[i].name == NULL) {
        files[i].name = name;
        files[i].file = memfd_create(name, MFD_CLOEXEC);
        snprintf(files[i].path, sizeof(files[i].path), "/proc/self/fd/%d", files[i].file);
    }
    if (ftruncate(files[i].file, 0) != 0 ||
        pwrite(files[i].file, bytes, count, 0) != (ssize_t)count)
        abort();
    return files[i].path;
}

/* Discards standard output, or restores it. */
static inline void fuzz_print_nowhere(bool nowhere)
{
    static int before = -1, none;

    fflush(stdout);
    if (before < 0) {
        before = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
        none = open("/dev/null", O_WRONLY | O_CLOEXEC);
    }
    if (dup2(nowhere ? none : before, STDOUT_FILENO) < 0)
        abort();
}

#endif
